"""Imported first by a fork server, which starts with Ctrl-C held back: the caller answers it.

Whoever else imports it, to collect examples for instance, has nothing held back and keeps Ctrl-C.
"""

import signal

if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
