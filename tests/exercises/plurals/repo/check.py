"""Tries each example of examples.txt: a word and its plural on a line."""

from pathlib import Path

from plurals import plural

EXAMPLES = Path(__file__).parent / "examples.txt"


def check_examples():
    for line in EXAMPLES.read_text().splitlines():
        word, expected = line.split()
        assert plural(word) == expected, f"{word}: {plural(word)} instead of {expected}"


if __name__ == "__main__":
    check_examples()
    print("all examples hold")
