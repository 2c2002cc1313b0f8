"""The pipeline as a plain script: each result is a line in a file, and nothing goes on after a crash."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline import STEPS, Probe, asked, result_of


def main() -> None:
    _, place, number = asked()
    with Path(f"{place}.jsonl").open("a") as file:

        def work() -> None:
            for task in range(number):
                for step in STEPS:
                    file.write(json.dumps(result_of(task, step)) + "\n")
                    file.flush()

        Probe("", number).measure(work)


if __name__ == "__main__":
    main()
