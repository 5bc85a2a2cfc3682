"""A program that listens to nobody, and has a child that does not either."""

import os
import signal
import time

if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.fork()
    while True:
        time.sleep(3600.0)
