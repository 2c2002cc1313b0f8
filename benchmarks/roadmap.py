"""How fast roadmaps are read: beside the bare parse of the same Markdown, and as they grow.

    python benchmarks/roadmap.py [ROUNDS]

(a) Our reader, which parses, finds ids, lines and dependencies and resolves them, beside the parse alone: markdown-it
with its plug-in for task lists, the way other programs find boxes. (b) What a task takes in roadmaps of 100, 1,000 and
10,000 tasks, which should be the same. (c) The largest roadmap of the corpus, where that is found. The two are
interleaved, several rounds each; printed are medians of processor time, and their ratios.
"""

from __future__ import annotations

import time
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.tasklists import tasklists_plugin
from measuring import Row, answers, arguments, interleaved, tell

from milepost.roadmap import read
from milepost.roadmap.reading.options import Manner
from milepost.roadmap.reading.read import survey

SIZES = (100, 1_000, 10_000)
BOXES = Manner(dialect="boxes")
LARGEST = Path(__file__).resolve().parents[2] / "shared/corpus/roadmaps/andrejvysny__OneCAD__TODO.md"
PHASE = """\
## Phase {phase}: Part {phase} of the work

> **Goal**: what part {phase} is good for
> **Priority**: HIGH

### {phase}.1 A section

**Files**: `src/part_{phase}.py`, `tests/test_part_{phase}.py`

"""
TASK = """\
- [ ] {phase}.1.{number} **Parse the thing** number {number}, and print it again
  - Verify: `pytest -q tests/test_part_{phase}.py`
  - Depends on: {before}
  Words about it that somebody wrote down, of the usual length.
"""
SHORT = "- [x] Write down what number {number} of part {phase} does\n  - [ ] one half\n  - [ ] the other half\n"


def main() -> None:
    asked = answers(arguments(__doc__, rounds=5))
    sizes = (20, 40) if asked.smoke else SIZES
    print(f"{'tasks':>8} {'kB':>7} {'parse':>10} {'our reader':>11} {'ratio':>6} {'tasks/s':>9} {'µs a task':>10}")
    each = [show(f"{size}", roadmap_of(size), asked.rounds) * 1e6 for size in sizes]
    for size, one in zip(sizes[1:], each[1:], strict=True):
        what = f"reading a task of {size:,}, of one of {sizes[0]}"
        tell(Row(what=what, now=one, unit="µs", reference=each[0], goal=1.1))
    if LARGEST.is_file() and not asked.smoke:
        show("corpus", LARGEST.read_bytes(), asked.rounds)
    else:
        print("the corpus of real roadmaps is not here")


def show(name: str, content: bytes, rounds: int) -> float:
    """One line about a roadmap; the seconds that each of its boxes took us."""
    boxes = sum(1 for top in read(content, BOXES).tasks for _ in top.walk())
    text = content.decode("utf-8-sig")

    def read_anew() -> None:
        survey.cache_clear()  # what was read a moment ago is kept: here it is read anew each time
        read(content, BOXES)

    taken = interleaved({"bare": lambda: parse(text), "ours": read_anew}, rounds, time.process_time)
    bare_s, ours_s = taken["bare"], taken["ours"]
    ratio = f"{ours_s / bare_s:6.2f} {boxes / ours_s:9,.0f} {ours_s / boxes * 1e6:10.0f}"
    print(f"{name:>8} {len(content) // 1024:7,} {bare_s * 1e3:7.1f} ms {ours_s * 1e3:8.1f} ms {ratio}")
    return ours_s / boxes


def roadmap_of(tasks: int) -> bytes:
    """A roadmap as people write them: phases of twenty tasks, half of them short, with subtasks."""
    parts = []
    for number in range(tasks):
        phase, place = divmod(number, 20)
        if place == 0:
            parts.append(PHASE.format(phase=phase))
        before = f"{phase}.1.{place - 2}" if place > 1 else "none"
        parts.append((SHORT if place % 2 else TASK).format(phase=phase, number=place, before=before))
    return "".join(parts).encode()


def parse(text: str) -> None:
    """What the boxes are, and nothing else about them."""
    markdown = MarkdownIt("commonmark", {"maxNesting": 200}).enable("table")
    markdown.use(front_matter_plugin).use(tasklists_plugin).parse(text)


if __name__ == "__main__":
    main()
