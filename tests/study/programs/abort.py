"""A program that breaks off."""

import os

if __name__ == "__main__":
    os.abort()
