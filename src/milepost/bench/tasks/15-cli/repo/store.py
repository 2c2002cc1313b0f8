"""Lists in files: one entry a line, `x` or a space before it."""

from pathlib import Path


def load(path):
    """The entries of a file as (ticked, text) pairs."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [(line[:1] == "x", line[2:]) for line in lines]


def save(path, entries):
    """Write the entries."""
    lines = [f"{'x' if ticked else ' '} {text}\n" for ticked, text in entries]
    Path(path).write_text("".join(lines), encoding="utf-8")
