"""Engine overhead for a task that does next to nothing, against a plain script that does the same work.

    python benchmarks/overhead.py [TASKS]

Both run the check as things stand, make a checkout, run the same agent program, commit, run the same
check in a clean checkout, read what changed, tick the box, commit the milepost, attach a note, and move
the branch. The script does it with the
same git commands in the same number, and with neither journal nor sandbox nor resume. The two are
interleaved, several rounds each; printed are medians, and their ratio. Tasks run one at a time:
what counts here is what one task costs, not how many fit beside each other.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import milepost

ROUNDS = 5
AGENT = "#!/bin/sh\nread -r _ || true\necho done > made-$$.txt\n"


def main() -> None:
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    plain, engine = [], []
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        agent = Path(folder, "agent")
        agent.write_text(AGENT)
        agent.chmod(0o755)
        for number in range(ROUNDS):
            plain.append(measure_script(make_repo(Path(folder, f"plain-{number}"), tasks), agent, tasks))
            engine.append(measure_engine(make_repo(Path(folder, f"engine-{number}"), tasks), agent, tasks))
    script_s, engine_s = statistics.median(plain), statistics.median(engine)
    print(f"{tasks} tasks a round, {ROUNDS} rounds, one task at a time, medians")
    print(f"plain script      {script_s * 1000:6.1f} ms a task")
    print(f"milepost          {engine_s * 1000:6.1f} ms a task")
    print(f"overhead          {(engine_s - script_s) * 1000:6.1f} ms a task")
    print(f"ratio             {engine_s / script_s:6.2f}  (goal: at most 2)")


def make_repo(folder: Path, tasks: int) -> Path:
    """A repository whose roadmap has so many tasks that do next to nothing."""
    folder.mkdir()
    lines = [f"- [ ] T{number:03d} Task\n  - Verify: true\n" for number in range(1, tasks + 1)]
    (folder / "ROADMAP.md").write_text("# Roadmap\n\n" + "".join(lines))
    for words in (
        ["init", "--quiet", "--initial-branch=main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@localhost"],
        ["add", "--all"],
        ["commit", "--quiet", "--message", "Start"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    return folder


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
        plain_task(repo, agent, f"T{number:03d}")
    return (time.perf_counter() - started) / tasks


def plain_task(repo: Path, agent: Path, task: str) -> None:
    """The same work as a step-by-step shell script would do it."""
    place = repo.parent / f"{repo.name}-work"
    base = git(repo, "rev-parse", "main")
    git(repo, "worktree", "add", "--quiet", "--detach", str(place), base)
    subprocess.run(["true"], cwd=place, check=True, stdout=subprocess.PIPE)
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
    subprocess.run(["true"], cwd=place, check=True, stdout=subprocess.PIPE)
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


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
