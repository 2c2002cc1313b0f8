"""Who imports whom among the files that tasks name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from milepost.sources import imports
from milepost.sources.imports import imports_among


def found(names: Sequence[str], files: Mapping[str, str]) -> dict[str, dict[str, str]]:
    among = imports_among(names, files, lambda asked: {name: files[name] for name in asked if name in files})
    return {name: dict(others) for name, others in among.found.items()}


@pytest.mark.parametrize(
    ("names", "files", "expected"),
    [
        pytest.param(
            ("cli.py", "durations.py"),
            {"cli.py": "import durations\n", "durations.py": ""},
            {"cli.py": {"durations.py": ""}},
            id="directly",
        ),
        pytest.param(
            ("cli.py", "durations.py"),
            {"cli.py": "from words import plural", "words.py": "import durations", "durations.py": ""},
            {"cli.py": {"durations.py": "words.py"}},
            id="through another",
        ),
        pytest.param(
            ("src/app/cli.py", "src/app/core/parse.py"),
            {
                "src/app/__init__.py": "",
                "src/app/core/__init__.py": "from .parse import parse",
                "src/app/cli.py": "from .core import parse as p\nfrom . import nothing",
                "src/app/core/parse.py": "",
            },
            {"src/app/cli.py": {"src/app/core/parse.py": ""}},
            id="relative, past the package's own file",
        ),
        pytest.param(
            ("src/app/cli.py", "src/app/core/parse.py"),
            {
                "src/app/__init__.py": "",
                "src/app/core/__init__.py": "from .parse import parse",
                "src/app/cli.py": "from app.core import total",
                "src/app/core/parse.py": "",
            },
            {"src/app/cli.py": {"src/app/core/parse.py": "src/app/core/__init__.py"}},
            id="through what a package offers",
        ),
        pytest.param(
            ("tests/test_cli.py", "lib/python/cli.py"),
            {
                "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["lib/python"]\n',
                "tests/test_cli.py": "import cli",
                "lib/python/cli.py": "",
            },
            {"tests/test_cli.py": {"lib/python/cli.py": ""}},
            id="from where the settings say, by a test",
        ),
        pytest.param(
            ("tools/run.py", "tools/steps.py"),
            {"tools/run.py": "import steps", "tools/steps.py": ""},
            {"tools/run.py": {"tools/steps.py": ""}},
            id="by a script beside it",
        ),
        pytest.param(
            ("web/app.ts", "web/model.ts", "web/old.js"),
            {
                "web/app.ts": "import { view } from './view.js'\n",
                "web/view.tsx": "export * from './model'\n",
                "web/model.ts": "export type Model = {}\n",
                "web/old.js": "const model = require('./model.ts')  // require('./app.ts')\n",
            },
            {"web/app.ts": {"web/model.ts": "web/view.tsx"}, "web/old.js": {"web/model.ts": ""}},
            id="TypeScript and JavaScript",
        ),
        pytest.param(
            ("app/", "core", "other/*.py"),
            {
                "app/a.py": "import core.x",
                "core/x.py": "import other.y",
                "core/notes.md": "",
                "other/y.py": "import core.x",
            },
            {
                "app/": {"core": "", "other/*.py": "core/x.py"},
                "core": {"other/*.py": ""},
                "other/*.py": {"core": ""},
            },
            id="folders and globs",
        ),
        pytest.param(
            ("cli.py", "durations.py"),
            {"cli.py": "import durations"},
            {"cli.py": {"durations.py": ""}},
            id="what is not there yet",
        ),
        pytest.param(("a.py", "b.py"), {"a.py": "import b\x00 (", "b.py": "def f(:"}, {}, id="what is no Python"),
        pytest.param(("a.py", "README.md"), {"a.py": "", "README.md": "import a"}, {}, id="what is no source"),
    ],
)
def test_imports_are_found(names: tuple[str, ...], files: dict[str, str], expected: dict[str, dict[str, str]]) -> None:
    assert found(names, files) == expected


def test_nothing_is_read_where_one_file_is_named() -> None:
    def refuse(_: Sequence[str]) -> dict[str, str]:
        raise AssertionError

    assert imports_among(("a.py", "README.md"), {"a.py", "README.md"}, refuse).found == {}


def test_only_so_many_files_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "MOST_FILES", 3)
    files = {f"m{number}.py": f"import m{number + 1}" for number in range(10)}
    read: list[str] = []

    def texts(asked: Sequence[str]) -> dict[str, str]:
        read.extend(asked)
        return {name: files[name] for name in asked}

    among = imports_among(("m0.py", "m2.py", "m9.py"), files, texts)
    assert among.cut
    assert read == ["m0.py", "m2.py", "m9.py"]
