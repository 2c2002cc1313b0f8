"""The rules of a repository for the agents that work on it: AGENTS.md and CLAUDE.md, the nearest first."""

from __future__ import annotations

from collections.abc import Collection, Sequence

NAMES = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md")
MOST_BYTES = 16_000
MOST_FILES = 8
LEFT_OUT = "… (the rest is left out: read the file)"


def rule_paths(files: Sequence[str], there: Collection[str]) -> tuple[str, ...]:
    """The files with rules that count for these files of a task: those in the folders above them, the nearest first."""
    folders = {folder for file in files for folder in _above(file)} | {""}
    nearest = sorted(folders, key=lambda folder: (-folder.count("/") - bool(folder), folder))
    paths = (f"{folder}/{name}" if folder else name for folder in nearest for name in NAMES)
    return tuple(path for path in paths if path in there)


def bounded(rules: Sequence[tuple[str, str]], most: int = MOST_BYTES) -> tuple[tuple[str, str], ...]:
    """As many rules as there is room for, those first that come first; what says only what another one says is left."""
    kept: list[tuple[str, str]] = []
    for path, text in rules:
        said = text.strip()
        if not said or said in (one for _, one in kept) or (said.startswith("@") and len(said.split()) == 1):
            continue
        if most <= 0 or len(kept) == MOST_FILES:
            break
        whole = said.encode("utf-8", "surrogatepass")
        cut = said if len(whole) <= most else f"{whole[:most].decode('utf-8', 'ignore')}\n{LEFT_OUT}"
        kept.append((path, cut))
        most -= len(whole)
    return tuple(kept)


def _above(file: str) -> tuple[str, ...]:
    parts = file.strip("/").split("/")[:-1]
    return tuple("/".join(parts[:count]) for count in range(1, len(parts) + 1)) if ".." not in parts else ()
