"""Engine overhead for a task that does next to nothing, against a plain script that does the same work.

    python benchmarks/overhead.py [ROUNDS] [--tasks 20]

Both run the check as things stand, make a checkout, run the same agent program, commit, run the same
check in a clean checkout, read what changed, tick the box, commit the milepost, attach a note, and move
the branch. The script does it with the same git commands in the same number, and with neither journal nor
sandbox nor resume. The two are interleaved; printed are medians, and their ratio. Tasks run one at a time:
what counts here is what one task costs, not how many fit beside each other. Beside it: what `plan` of four tasks and
`status` take of a processor, and Python that does nothing.
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from measuring import Row, answers, arguments, git, interleaved, make_repo, tell

import milepost

AGENT = "#!/bin/sh\nread -r _ || true\nn=1\nwhile [ -e made-$n.txt ]; do n=$((n + 1)); done\necho done > made-$n.txt\n"


def main() -> None:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--tasks", type=int, default=20)
    asked = answers(parser)
    tasks = 2 if asked.smoke else asked.tasks
    plain, engine = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        agent = Path(folder, "agent")
        agent.write_text(AGENT)
        agent.chmod(0o755)
        for number in range(asked.rounds):
            plain.append(measure_script(repo_of(Path(folder, f"plain-{number}"), tasks), agent, tasks))
            engine.append(measure_engine(repo_of(Path(folder, f"engine-{number}"), tasks), agent, tasks))
        commands = measure_commands(repo_of(Path(folder, "commands"), 4), 2 * asked.rounds)
    script_s, engine_s = statistics.median(plain), statistics.median(engine)
    tell(
        Row(what="a trivial task in a run, 1 at a time", now=engine_s, unit="s", goal=0.4),
        Row(what="the same, of a plain script with git", now=engine_s * 1000, reference=script_s * 1000, goal=2),
        *(
            Row(what=f"{name}, CPU", now=commands[name], unit="s", goal=0.3)
            for name in ("`plan` of 4 tasks", "`status`")
        ),
    )
    print(f"`python -c pass` takes {commands['python'] * 1000:.0f} ms of a processor")


def repo_of(folder: Path, tasks: int) -> Path:
    """A repository whose roadmap has so many tasks that do next to nothing."""
    lines = [f"- [ ] T{number:03d} Task\n  - Verify: test -f made-{number}.txt\n" for number in range(1, tasks + 1)]
    return make_repo(folder, {"ROADMAP.md": "# Roadmap\n\n" + "".join(lines)})


def measure_commands(repo: Path, rounds: int) -> dict[str, float]:
    """Seconds of a processor that single commands take."""
    words = {
        "python": ["-c", "pass"],
        "`plan` of 4 tasks": ["-m", "milepost", "plan"],
        "`status`": ["-m", "milepost", "status"],
    }
    actions: dict[str, Callable[[], object]] = {
        name: partial(subprocess.run, [sys.executable, *each], cwd=repo, check=True, stdout=subprocess.DEVNULL)
        for name, each in words.items()
    }
    return interleaved(actions, rounds, children_s)


def children_s() -> float:
    """Seconds of a processor that programs have taken that were started from here."""
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


def measure_engine(repo: Path, agent: Path, tasks: int) -> float:
    """Seconds a task, from the first attempt's start to the last milepost."""
    moments: list[float] = []
    ending = milepost.run(
        repo / "ROADMAP.md",
        agent=f"command:{agent}",
        parallel=1,
        on_event=lambda _: moments.append(time.perf_counter()),
    )
    assert isinstance(ending, milepost.RunFinished) and ending.passed, ending
    return (moments[-1] - moments[0]) / tasks


def measure_script(repo: Path, agent: Path, tasks: int) -> float:
    """Seconds a task of the plain script."""
    started = time.perf_counter()
    for number in range(1, tasks + 1):
        plain_task(repo, agent, number)
    return (time.perf_counter() - started) / tasks


def plain_task(repo: Path, agent: Path, number: int) -> None:
    """The same work as a step-by-step shell script would do it."""
    place, task, check = repo.parent / f"{repo.name}-work", f"T{number:03d}", ["test", "-f", f"made-{number}.txt"]
    base = git(repo, "rev-parse", "main")
    git(repo, "worktree", "add", "--quiet", "--detach", str(place), base)
    subprocess.run(check, cwd=place, stdout=subprocess.PIPE)
    drop(repo, place)
    git(repo, "worktree", "add", "--quiet", "--detach", str(place), base)
    subprocess.run([str(agent)], cwd=place, input=b"do it\n", check=True, stdout=subprocess.PIPE)
    git(place, "add", "--all")
    tree = git(place, "write-tree")
    attempt = git(place, "commit-tree", tree, "-p", base, "-m", f"Attempt at {task}")
    git(repo, "update-ref", f"refs/attempts/{task}", attempt)
    drop(repo, place)
    git(repo, "worktree", "add", "--quiet", "--detach", str(place), attempt)
    git(place, "diff-tree", "-p", "-r", base, attempt)
    subprocess.run(check, cwd=place, check=True, stdout=subprocess.PIPE)
    roadmap = place / "ROADMAP.md"
    roadmap.write_text(roadmap.read_text().replace(f"- [ ] {task}", f"- [x] {task}"))
    git(place, "add", "ROADMAP.md")
    tree = git(place, "write-tree")
    drop(repo, place)
    git(repo, "log", "--format=%H %(trailers:key=Task)", "main")
    commit = git(repo, "commit-tree", tree, "-p", base, "-m", f"{task}: Task\n\nTask: {task}")
    git(repo, "notes", "add", "-m", f"verified {task}", commit)
    git(repo, "update-ref", "refs/heads/main", commit, base)


def drop(repo: Path, place: Path) -> None:
    shutil.rmtree(place)
    git(repo, "worktree", "prune")


if __name__ == "__main__":
    main()
