"""Imported first by a fork server, which starts with Ctrl-C held back: the caller answers it."""

import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
