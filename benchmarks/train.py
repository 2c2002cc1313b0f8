"""How long many tasks take side by side whose work meets in two files, against the time that nobody can beat.

    python benchmarks/train.py [--tasks 34] [--parallel 4] [--seconds 2]

Every task takes its agent the same time, makes a file of its own, and adds a line to one changelog and one registry,
all at the same place: each pair of them conflicts. The ideal is the time of one task alone, from its start to its
milepost, times their number, divided by how many are worked on at once. Printed is the ratio of the two; a run in
which a milepost lacks passing evidence for its very tree, or a line is lost or there twice, is no result.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from measuring import Row, answers, arguments, git, make_repo, tell

import milepost
import milepost.events

AGENT = """\
import json, os, pathlib, sys, time

task = json.load(open(os.environ["MILEPOST_ASSIGNMENT"]))["task"]
time.sleep(float(sys.argv[1]))
pathlib.Path("done").mkdir(exist_ok=True)
pathlib.Path("done", task).write_text(task + "\\n")
for name, mark, line in (
    ("CHANGELOG.md", "## Next\\n\\n", f"- {task} is done\\n"),
    ("registry.py", "NAMES = [\\n", f'    "{task}",\\n'),
):
    text = pathlib.Path(name).read_text()
    pathlib.Path(name).write_text(text.replace(mark, mark + line, 1))
"""


def main() -> None:
    parser = arguments(__doc__, rounds=1)
    parser.add_argument("--tasks", type=int, default=34)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=2.0)
    asked = answers(parser)
    measure(*((2, 2, 0.1) if asked.smoke else (asked.tasks, asked.parallel, asked.seconds)))


def measure(tasks: int, parallel: int, seconds: float) -> None:
    """Run it once and print what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        agent = Path(folder, "agent.py")
        agent.write_text(AGENT)
        words = f"command:{sys.executable} {agent} {seconds}"
        alone = travel(repo_of(Path(folder, "alone"), 1), words, 1)
        train = travel(repo_of(Path(folder, "train"), tasks), words, parallel)
    ideal_s = tasks * alone.wall_s / parallel
    print(f"{tasks} tasks of {seconds:g} s, {parallel} at once, all in conflict with each other")
    print(f"attempts          {train.attempts:7d}    (one a task is the least)")
    print(f"verifications     {train.verified:7d}    (one an attempt, and one a tree that was merged)")
    print(f"one task alone    {alone.wall_s:7.1f} s")
    what = f"{tasks} tasks in conflict, {parallel} at once, of one task alone"
    tell(Row(what=what, now=train.wall_s, unit="s", reference=ideal_s, goal=1.3))
    print(
        f"to agents alone   {train.wall_s * parallel / tasks / seconds:7.2f}    (as if checks and commits took no time)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Travelled:
    """A run that was found to be right: how long it took, and what was done in it."""

    wall_s: float
    attempts: int
    verified: int


def travel(repo: Path, agent: str, parallel: int) -> Travelled:
    events: list[tuple[float, milepost.Event]] = []
    ending = milepost.run(
        repo / "ROADMAP.md",
        agent=agent,
        parallel=parallel,
        on_event=lambda event: events.append((time.perf_counter(), event)),
    )
    assert isinstance(ending, milepost.RunFinished) and ending.passed, ending
    check(repo, ending)
    return Travelled(
        wall_s=events[-1][0] - events[0][0],
        attempts=sum(task.attempts for task in ending.tasks),
        verified=sum(
            isinstance(event, milepost.events.StageStarted) and event.stage == "verify" for _, event in events
        ),
    )


def repo_of(folder: Path, tasks: int) -> Path:
    """A repository whose roadmap has so many independent tasks."""
    names = [f"T{number:03d}" for number in range(1, tasks + 1)]
    lines = [f"- [ ] {name} Do it\n  - Verify: grep -q {name} registry.py done/{name}\n" for name in names]
    files = {"CHANGELOG.md": "# Changes\n\n## Next\n\n- begun\n", "registry.py": 'NAMES = [\n    "zero",\n]\n'}
    return make_repo(folder, {**files, "ROADMAP.md": "# Roadmap\n\n" + "".join(lines)})


def check(repo: Path, ending: milepost.RunFinished) -> None:
    """Raise unless every milepost has passing evidence for its own tree, and nobody's line is lost or there twice."""
    for task in ending.tasks:
        proof = milepost.proof(task.id, repo / "ROADMAP.md")
        assert proof.commit == task.commit, f"{task.id}: the proof is of {proof.commit}, the milepost is {task.commit}"
        assert proof.evidence.verdict is milepost.Verdict.PASSED, f"{task.id}: {proof.evidence.verdict}"
        tree = git(repo, "rev-parse", f"{task.commit}^{{tree}}")
        assert proof.evidence.tree == tree, f"{task.id}: verified was {proof.evidence.tree}, landed is {tree}"
    wanted = Counter(task.id for task in ending.tasks)
    changelog = git(repo, "show", f"{ending.head}:CHANGELOG.md")
    registry = git(repo, "show", f"{ending.head}:registry.py")
    assert Counter(line[2:6] for line in changelog.splitlines() if line.endswith("is done")) == wanted, changelog
    assert Counter(line.strip(' ",') for line in registry.splitlines() if '"T' in line) == wanted, registry


if __name__ == "__main__":
    main()
