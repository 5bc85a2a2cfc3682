"""A program that writes a whole solution in the format of CSDP: zeros, and unit matrices."""

import sys

if __name__ == "__main__":
    with open(sys.argv[1]) as file:
        lines = [line for line in file if line[0] not in '"*']
    scalars, sizes = int(lines[0]), [abs(int(size)) for size in lines[2].split()]
    with open(sys.argv[2], "w") as file:
        print(*[0.0] * scalars, file=file)
        for side in (1, 2):
            for block, size in enumerate(sizes, 1):
                for i in range(1, size + 1):
                    print(side, block, i, i, 1.0, file=file)
    print("Success: the problem has been solved.")
