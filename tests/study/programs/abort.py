"""A program that breaks off."""

import os

os.abort()
