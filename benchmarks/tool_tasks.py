"""The tasks of benchmarks/agents.py: what a scripted model does, step by step, and the files that are right then.

Each step is written twice: as a shell command, and as a call of a tool of ours. Standard library only: both agents'
interpreters import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES = {f"src/part_{n}.py": f"def part_{n}():\n    return {n}  # TODO: double it\n" for n in range(20)}
NOTES = "# Notes\n" + "".join(f"- note {n}\n" for n in range(40))


@dataclass(frozen=True)
class Step:
    """One thing that the model does."""

    command: str
    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A task for a scripted model: what is there before, and what has to be there after it."""

    name: str
    text: str
    before: dict[str, str]
    steps: tuple[Step, ...]
    after: dict[str, str]


def run(command: str) -> Step:
    """A step that is a command for both."""
    return Step(command, "execute", {"argv": ["bash", "-c", command]})


def read(path: str) -> Step:
    return Step(f"cat -n {path}", "read_file", {"path": path})


def write(path: str, text: str) -> Step:
    return Step(f"cat <<'EOF' > {path}\n{text}EOF", "write_file", {"path": path, "content": text})


def edit(path: str, old: str, new: str) -> Step:
    return Step(f"sed -i 's/{old}/{new}/' {path}", "edit_file", {"path": path, "old": old, "new": new})


TASKS = (
    Task(
        "write a file and check it",
        "Write greeting.txt, and check it.",
        {},
        (
            Step("ls -la", "ls", {}),
            write("greeting.txt", "hello\nworld\n"),
            read("greeting.txt"),
            run('test "$(wc -l < greeting.txt)" = 2 && echo fine'),
        ),
        {"greeting.txt": "hello\nworld\n"},
    ),
    Task(
        "double what the parts return",
        "Every part is to return the double.",
        FILES,
        (
            Step("grep -rn TODO src", "grep", {"pattern": "TODO", "path": "src"}),
            *(
                step
                for n in range(8)
                for step in (
                    read(f"src/part_{n}.py"),
                    edit(f"src/part_{n}.py", f"return {n}  # TODO: double it", f"return {2 * n}"),
                )
            ),
            run("grep -c TODO src/part_1*.py"),
        ),
        {f"src/part_{n}.py": f"def part_{n}():\n    return {2 * n}\n" for n in range(8)},
    ),
    Task(
        "a command that fails on the way",
        "Make check.sh pass.",
        {"check.sh": "grep -q 'note 41' notes.md\n", "notes.md": NOTES},
        (
            run("sh check.sh"),
            read("check.sh"),
            read("notes.md"),
            edit("notes.md", "note 39", "note 41"),
            run("sh check.sh && echo passed"),
        ),
        {"notes.md": NOTES.replace("note 39", "note 41")},
    ),
)


def prepared(task: Task, folder: Path) -> Path:
    """The folder with what is there before."""
    for name, text in task.before.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def is_right(task: Task, folder: Path) -> bool:
    """Whether the files are there that have to be."""
    return all((folder / name).is_file() and (folder / name).read_text() == text for name, text in task.after.items())
