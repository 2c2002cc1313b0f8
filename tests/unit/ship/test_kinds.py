from __future__ import annotations

import pytest

from milepost.core.errors import NothingToPackage
from milepost.ship.kinds import chosen_kind, fitting_kinds
from tests.unit.ship.sources import source

PROJECT = '[project]\nname = "a"\n'
CARGO = '[package]\nname = "tool"\n'
LIBRARY = '{"name": "a", "main": "index.js"}'
SITE = '{"name": "a", "scripts": {"build": "vite build"}, "devDependencies": {"vite": "7"}}'


@pytest.mark.parametrize(
    ("files", "kind", "reason"),
    [
        ({"pyproject.toml": PROJECT}, "wheel", "pyproject.toml declares a project"),
        ({"setup.py": ""}, "wheel", "setup.py declares a project"),
        ({"src/app/__init__.py": ""}, "wheel", "src/app is Python; a pyproject.toml is generated"),
        ({"pyproject.toml": "[tool.ruff]\n", "app.py": ""}, "wheel", "app.py is Python; a pyproject.toml is generated"),
        ({"package.json": LIBRARY, "index.js": ""}, "npm", "package.json declares a package"),
        ({"package.json": SITE, "index.html": ""}, "static", "package.json builds a site with vite"),
        ({"index.html": "", "style.css": ""}, "static", "index.html is a page"),
        ({"public/index.html": ""}, "static", "public/index.html is a page"),
        ({"Cargo.toml": CARGO, "src/main.rs": ""}, "rust", "Cargo.toml declares the program tool"),
        ({"pyproject.toml": PROJECT, "docs/index.html": ""}, "wheel", "pyproject.toml declares a project"),
        (
            {"pyproject.toml": PROJECT, "Cargo.toml": CARGO, "src/lib.rs": ""},
            "wheel",
            "pyproject.toml declares a project",
        ),
    ],
)
def test_the_kind_is_what_the_files_say(files: dict[str, str], kind: str, reason: str) -> None:
    tree = source(files)
    chosen = chosen_kind(fitting_kinds(tree.files, tree.read))
    assert (chosen.kind, chosen.reason) == (kind, reason)


def test_where_several_kinds_are_declared_the_line_names_them_and_a_choice() -> None:
    tree = source({"pyproject.toml": PROJECT, "package.json": LIBRARY})
    with pytest.raises(NothingToPackage, match=r"several kinds fit: wheel .*, npm") as refused:
        chosen_kind(fitting_kinds(tree.files, tree.read))
    assert "--as wheel" in refused.value.advice


@pytest.mark.parametrize("files", [{}, {"README.md": ""}, {"tests/__init__.py": "", "setup.cfg": "[flake8]"}])
def test_where_nothing_fits_the_line_says_what_is_missing(files: dict[str, str]) -> None:
    tree = source(files)
    with pytest.raises(NothingToPackage, match="nothing here says what to package"):
        chosen_kind(fitting_kinds(tree.files, tree.read))
