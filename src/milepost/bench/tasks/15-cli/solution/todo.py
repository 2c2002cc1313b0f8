"""A to-do list in a file."""

import argparse
import sys
from pathlib import Path

from store import load, save


def main(argv=None):
    """The exit code."""
    options = parser().parse_args(argv)
    entries = load(options.file) if Path(options.file).exists() else []
    if options.command == "add":
        save(options.file, [*entries, (False, options.text)])
    elif options.command == "list":
        for number, (ticked, text) in enumerate(entries, 1):
            print(f"{number} [{'x' if ticked else ' '}] {text}")
    elif not 1 <= options.number <= len(entries):
        print(f"there is no entry {options.number}", file=sys.stderr)
        return 1
    else:
        entries[options.number - 1] = (True, entries[options.number - 1][1])
        save(options.file, entries)
    return 0


def parser():
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("file")
    commands = made.add_subparsers(dest="command", required=True)
    commands.add_parser("add").add_argument("text")
    commands.add_parser("list")
    commands.add_parser("done").add_argument("number", type=int)
    return made


if __name__ == "__main__":
    sys.exit(main())
