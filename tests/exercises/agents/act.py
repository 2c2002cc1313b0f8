"""The program behind every scripted agent: `python act.py TESTS_FOLDER EXERCISE CLAIM`, in the checkout to work on."""

from __future__ import annotations

import sys
from importlib import import_module


def main() -> None:
    tests, name, claim = sys.argv[1:]
    sys.path[0] = tests  # all of the project that an agent may read
    exercise = import_module("exercises.exercise").exercise(name)
    import_module("exercises.agents").CLAIMS[claim].act(exercise)
    sys.stdout.write("All done. Every test passes.\n")


if __name__ == "__main__":
    main()
