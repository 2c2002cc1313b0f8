"""How long it takes to make the context of a task, against the time that nobody can beat: parsing the same files.

    python benchmarks/context.py [ROUNDS] [--files 2000]

A repository of generated Python modules that use each other is made in a temporary folder. Timed are a plain parse by
tree-sitter of all files, already in memory, and the context of one task: the first, when nothing is in the cache; the
second, in a process that finds all in the cache; and a third in the same process. All are interleaved, each several
times; printed are medians and their ratios to the plain parse, the reference.
"""

from __future__ import annotations

import random
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import tree_sitter_python
from measuring import Row, answers, arguments, make_repo, seconds, tell
from tree_sitter import Language, Parser

from milepost.core.secrets.redact import Redactor
from milepost.core.task import Task
from milepost.engine.context.build_context import Contexts, ContextView
from milepost.engine.context.tag_cache import TagCache
from milepost.plan.context.build_context import ContextBounds
from milepost.workspace.repository import Repository

GOALS = {"the first context": 3.0, "the second, from the cache": 3.0}
TASK = Task(
    id="1.1", title="Make `Thing7.grow_3` faster", status="open", line=1, text="In `pkg0/module7.py`.", files=()
)


def main() -> None:
    parser = arguments(__doc__, rounds=5)
    parser.add_argument("--files", type=int, default=2000)
    asked = answers(parser)
    count = 20 if asked.smoke else asked.files
    with tempfile.TemporaryDirectory() as folder:
        repo = make_repo(Path(folder, "repo"), dict(modules(count)))
        contents = [path.read_bytes() for path in sorted(repo.rglob("*.py"))]
        print(f"{count} files, {sum(map(len, contents)) / 1e6:.1f} MB")
        report(measured(repo, Path(folder), contents, asked.rounds))


def modules(count: int) -> Iterator[tuple[str, str]]:
    """Modules and their text, each with a class and functions that use those of five others."""
    dice = random.Random(7)
    for number in range(count):
        others = [dice.randrange(count) for _ in range(5)]
        imports = "".join(f"from pkg{other % 20}.module{other} import Thing{other}, make_{other}\n" for other in others)
        methods = "".join(
            f'    def grow_{at}(self, by: int) -> Thing{other}:\n        """Grow by some."""\n'
            f"        made = make_{other}(by * {at})\n        return made.grow_{at % 3}(self.size + by)\n\n"
            for at, other in enumerate(others * 2)
        )
        text = f"{imports}\nLIMIT_{number} = {number}\n\n\nclass Thing{number}:\n    size = 1\n\n{methods}\n"
        text += f"def make_{number}(size: int) -> Thing{number}:\n    return Thing{number}()\n"
        yield f"pkg{number % 20}/module{number}.py", text


def measured(repo: Path, folder: Path, contents: list[bytes], rounds: int) -> dict[str, list[float]]:
    """The seconds of each way, in each round."""
    repository = Repository.find(repo)
    git, commit = repository.git(folder / "git"), repository.position().commit
    view = ContextView(
        task=TASK, agent="tool", tree=commit, base=commit, since=commit, roadmap="", folder=repo, bounds=ContextBounds()
    )
    found: dict[str, list[float]] = {}

    def make(cache: TagCache) -> None:
        assert "class Thing7" in Contexts(git, cache, Redactor()).of(view).text

    for number in range(rounds):
        state = folder / f"state{number}"
        found.setdefault("plain parse of all files", []).append(seconds(lambda: parse(contents)))
        for name in ("the first context", "the second, from the cache"):
            with closing(TagCache(state)) as cache:
                found.setdefault(name, []).append(seconds(lambda cache=cache: make(cache)))  # type: ignore[misc]
                if name != "the first context":
                    found.setdefault("a third in the same process", []).append(seconds(lambda cache=cache: make(cache)))  # type: ignore[misc]
    return found


def parse(contents: list[bytes]) -> None:
    parser = Parser(Language(tree_sitter_python.language()))
    for content in contents:
        parser.parse(content)


def report(found: dict[str, list[float]]) -> None:
    reference = statistics.median(found["plain parse of all files"])
    for name, taken in found.items():
        middle = statistics.median(taken)
        print(f"{name:<30} {middle:7.2f} s   {middle / reference:5.2f} × the plain parse")
        if name in GOALS:
            what = f"{name}, of a plain parse"
            tell(Row(what=what, now=middle * 1000, reference=reference * 1000, goal=GOALS[name]))


if __name__ == "__main__":
    main()
