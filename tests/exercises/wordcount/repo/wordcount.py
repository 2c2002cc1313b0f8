"""Counts the words of its standard input."""

import argparse
import re
import sys


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.parse_args(argv)
    print(len(re.findall(r"\w+", sys.stdin.read())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
