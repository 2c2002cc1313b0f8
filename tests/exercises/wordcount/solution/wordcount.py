"""Counts the words of its standard input."""

import argparse
import re
import sys
from collections import Counter


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--top", type=int, metavar="N", help="print the N most frequent words")
    options = parser.parse_args(argv)
    words = re.findall(r"\w+", sys.stdin.read())
    if options.top is None:
        print(len(words))
    else:
        counted = Counter(word.lower() for word in words)
        for word, count in sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))[: options.top]:
            print(word, count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
