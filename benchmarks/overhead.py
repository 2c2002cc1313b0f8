"""Engine overhead for a task that does next to nothing, against a plain script that does the same work.

    python benchmarks/overhead.py [ROUNDS] [--tasks 20] [--growth 1000]

Both run the check as things stand, make a checkout, run the same agent program, commit, run the same
check in a clean checkout, read what changed, tick the box, commit the milepost, attach a note, and move
the branch. The script does it with the same git commands in the same number, and with neither journal nor
sandbox nor resume. The two are interleaved; printed are medians, and their ratio. Tasks run one at a time:
what counts here is what one task costs, not how many fit beside each other. Beside it: what `plan` of four tasks and
`status` take of a processor, and Python that does nothing.

With `--growth` instead: one run of so many tasks, four at a time, in ten parts. Told for each are the time a task, what
this process and its gits take of a processor for one, and its memory at the end; the last part is compared with the
first but one, since the first has the start of the run.
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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from measuring import Row, answers, arguments, git, interleaved, make_repo, tell

import milepost

PARTS = 10
AGENT = "#!/bin/sh\nread -r _ || true\nn=1\nwhile [ -e made-$n.txt ]; do n=$((n + 1)); done\necho done > made-$n.txt\n"

# Beside others it cannot tell its task from what is there.
AGENT_OF_MANY = (
    '#!/bin/sh\nfile=$(grep -o "made-[0-9]*\\.txt" "$MILEPOST_ASSIGNMENT" | head -n 1)\necho "$file" > "$file"\n'
)


def main() -> None:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--growth", type=int, metavar="TASKS", help="one run of so many tasks, and nothing else")
    asked = answers(parser)
    tasks = 2 if asked.smoke else asked.tasks
    plain, engine = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        agent = Path(folder, "agent")
        agent.write_text(AGENT_OF_MANY if asked.growth else AGENT)
        agent.chmod(0o755)
        if asked.growth:
            tell_growth(measure_growth(repo_of(Path(folder, "growth"), asked.growth), agent, asked.growth))
            return
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """How far a run is: the tasks that are done, and what it took until then."""

    tasks: int
    wall_s: float
    cpu_s: float
    rss_mb: float


def measure_growth(repo: Path, agent: Path, tasks: int) -> list[Mark]:
    """The begin of a run, and the end of each tenth of it."""
    print(f"{'tasks':>8}{'ms a task':>12}{'CPU ms a task':>15}{'memory, MB':>12}", flush=True)
    marks = [mark(0)]
    done = 0

    def heard(event: object) -> None:
        nonlocal done
        if isinstance(event, milepost.TaskFinished):
            done += 1
            if done * PARTS // tasks > (done - 1) * PARTS // tasks:
                marks.append(mark(done))
                show_part(*marks[-2:])

    ending = milepost.run(repo / "ROADMAP.md", agent=f"command:{agent}", parallel=4, on_event=heard)
    assert isinstance(ending, milepost.RunFinished) and ending.passed, ending
    return marks


def mark(tasks: int) -> Mark:
    own = resource.getrusage(resource.RUSAGE_SELF)
    kilobytes = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS"))
    return Mark(
        tasks=tasks,
        wall_s=time.perf_counter(),
        cpu_s=own.ru_utime + own.ru_stime + children_s(),
        rss_mb=int(kilobytes.split()[1]) / 1024,
    )


def show_part(before: Mark, after: Mark) -> None:
    wall_ms = (after.wall_s - before.wall_s) / (after.tasks - before.tasks) * 1000
    print(f"{after.tasks:8}{wall_ms:12.0f}{cpu_ms(before, after):15.0f}{after.rss_mb:12.1f}", flush=True)


def cpu_ms(before: Mark, after: Mark) -> float:
    """What a task took of a processor between two marks."""
    return (after.cpu_s - before.cpu_s) / (after.tasks - before.tasks) * 1000


def tell_growth(marks: list[Mark]) -> None:
    """The last part beside the second."""
    early, end = marks[2], marks[-1]
    first, last = cpu_ms(*marks[1:3]), cpu_ms(*marks[-2:])
    what = f"of {end.tasks:,} in a run, 4 at a time, of the second"
    grown_mb = (end.rss_mb - early.rss_mb) / (end.tasks - early.tasks) * 1000
    tell(
        Row(what=f"CPU a task of the last tenth {what}", now=last, reference=first, goal=1.2),
        Row(
            what=f"memory of the engine for 1,000 tasks more, {end.tasks:,} in a run", now=grown_mb, unit="MB", goal=10
        ),
    )


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
