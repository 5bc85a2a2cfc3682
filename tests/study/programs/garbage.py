"""A program that prints and writes megabytes of anything."""

import sys

if __name__ == "__main__":
    noise = b"\x1b[2J<script>alert(1)</script>\x00\xff\xfe nan 1e999 </table>\r" * 40_000
    with open(sys.argv[2], "wb") as file:
        file.write(noise)
    for stream in (sys.stdout, sys.stderr):
        stream.buffer.write(noise)
