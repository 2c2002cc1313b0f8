"""Turns `name,count` lines into JSON."""

import json
import sys
from pathlib import Path


def main(source, target):
    try:
        lines = Path(source).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    rows = []
    for number, line in enumerate(lines, 1):
        name, _, count = line.partition(",")
        if not count.strip().isdigit():
            print(f"line {number}: no number", file=sys.stderr)
            continue
        rows.append({"name": name, "count": int(count)})
    rows.sort(key=lambda row: row["name"])
    Path(target).write_text(json.dumps(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
