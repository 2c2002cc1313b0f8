from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.core.verdict import CheckResult
from milepost.verify.checks.stubs import StubsCheck


def checked(path: str, before: str | None, after: str, title: str = "Add `total` and `add`") -> CheckResult:
    file = ChangedFile(path=path, before=before.encode() if before is not None else None, after=after.encode())
    task = Task(id="1", title=title, status="open", line=1)
    return StubsCheck(change=Change(files=(file,)), task=task).run(
        Workspace(folder=Path("/nowhere"), scratch=Path("/nowhere"), base="0" * 40)
    )


STUBS = [
    ("app.py", "def total(x):\n    raise NotImplementedError\n"),
    ("app.py", "def total(x):\n    pass\n"),
    ("app.py", "def total(x):\n    ...\n"),
    ("app.py", 'def total(x):\n    """Adds."""\n'),
    ("app.py", "class Total:\n    async def add(self):\n        pass\n"),
    ("src/lib.rs", "fn total() -> i32 {\n    todo!()\n}\n"),
    ("src/lib.rs", 'fn total() -> i32 {\n    unimplemented!("x")\n}\n'),
    ("app.go", 'func Total() int {\n\tpanic("not implemented")\n}\n'),
    ("App.java", '  int total() { throw new UnsupportedOperationException("Not implemented"); }\n'),
    ("app.js", "export function total() {\n  throw new Error('Not implemented yet')\n}\n"),
    ("app.ts", "export function total(): void {}\n"),
]


@pytest.mark.parametrize(("path", "after"), STUBS)
def test_a_stub_fails_unless_it_was_there_or_is_asked_for(path: str, after: str) -> None:
    assert checked(path, None, after).outcome == "failed"
    assert checked(path, after, f"{after}\n\n").outcome == "passed"
    assert checked(path, None, after, "Write a skeleton of the module").outcome == "passed"


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("app.py", "def f():\n    try:\n        g()\n    except ValueError:\n        pass\n"),
        ("app.py", "class Wrong(Exception):\n    pass\n\n\nclass Marker:\n    ...\n"),
        ("app.py", "class P(Protocol):\n    def f(self) -> int: ...\n"),
        ("app.py", "class A(ABC):\n    @abstractmethod\n    def f(self): raise NotImplementedError\n"),
        ("app.py", "@overload\ndef f(x: int) -> int: ...\n@overload\ndef f(x: str) -> str: ...\ndef f(x): return x\n"),
        ("app.py", "class NullLog:\n    def write(self, x):\n        pass\n"),
        ("app.py", "class A:\n    def __init__(self):\n        pass\n"),
        ("app.py", 'HELP = "# TODO: nothing"\nMORE = """\n# TODO in a text\n"""\n'),
        ("app.py", "# see the todo list module\ntodos = []\n"),
        ("app.py", "def f():\n    for x in y:\n        pass\n    return 1\n"),
        ("app.py", "def f():\n    return NotImplemented\n"),
        ("app.py", "def f(x):\n    if x:\n        return 1\n    raise NotImplementedError(f'{x} is not known')\n"),
        ("app.py", "class H(Handler):\n    def log_message(self, *words):\n        pass\n"),
        (
            "app.py",
            "class Form:\n    def area(self):\n        raise NotImplementedError\n\n\n"
            "class Square(Form):\n    def area(self):\n        return 1\n",
        ),
        ("app.py", "@click.group()\ndef cli():\n    pass\n"),
        ("app.py", "def _ignore(event):\n    pass\n"),
        ("app.pyi", "def total(x: int) -> int: ...\n"),
        ("pkg/__init__.py", ""),
        ("README.md", "TODO: write\n"),
        ("app.js", "const a = 'TODO: x'\nexport const noop = () => {}\n"),
        ("app.go", 'const a = "// TODO: x"\n'),
        ("tests/test_a.py", "def test_total():\n    assert total() == 1\n"),
        ("tests/test_a.py", "def test_runs():\n    main()\n"),
        ("tests/test_a.py", "def test_error():\n    with pytest.raises(ValueError):\n        load()\n"),
        ("tests/test_a.py", "def test_it(check):\n    check_all(load())\n"),
        ("tests/test_a.py", "def test_each():\n    for x in [1]:\n        assert f(x)\n"),
    ],
)
def test_what_is_complete_is_no_stub(path: str, after: str) -> None:
    assert checked(path, None, after).summary == "no unfinished code"


def test_the_summary_says_where_and_what() -> None:
    result = checked("app.py", "X = 1\n", "X = 1\n\n\ndef total(x):\n    pass\n")
    assert result.summary == "unfinished code: app.py:4 (total has an empty body)"


@pytest.mark.parametrize(
    ("path", "after"),
    [
        ("app.py", "def total(x):\n    # TODO: add\n    return 0\n"),
        ("app.go", "func Total() int {\n\t// TODO add\n\treturn 0\n}\n"),
        ("app.ts", "function total(): number {\n  /* FIXME */ return 0\n}\n"),
        ("app.py", "def helper(x):\n    pass\n"),
    ],
)
def test_a_note_in_code_that_works_is_reported_and_not_refused(path: str, after: str) -> None:
    result = checked(path, None, after)

    assert (result.outcome, result.summary.partition(":")[0]) == ("passed", "notes of unfinished work")
