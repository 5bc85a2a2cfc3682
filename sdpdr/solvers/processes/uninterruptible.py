"""Imported first by a fork server, which starts with Ctrl-C held back: the caller answers it.

In any other process that imports it, to collect examples for instance, Ctrl-C works as usual.
"""

import signal

if signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ()):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
