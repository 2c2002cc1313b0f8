from __future__ import annotations

from pathlib import Path

import pytest

from milepost.sources.python_modules import Module, imported_names, module_at
from milepost.verify.programs.python_modules import does_work, import_cycle, import_roots

CIRCULAR = """Traceback (most recent call last):
  File "/driver.py", line 74, in attempt
    found = importlib.import_module(module["name"])
  File "/project/src/pkg/__init__.py", line 1, in <module>
    from pkg.a import A
  File "/project/src/pkg/a.py", line 1, in <module>
    from pkg.sub import B
  File "/project/src/pkg/sub/__init__.py", line 1, in <module>
    from pkg.sub.b import B
  File "/project/src/pkg/sub/b.py", line 1, in <module>
    from pkg.a import A
"""


def at(path: str, *, roots: tuple[str, ...] = ("",), files: tuple[str, ...] = ()) -> Module | None:
    return module_at(path, roots, lambda asked: asked in files)


@pytest.mark.parametrize(
    ("path", "roots", "files", "name", "first"),
    [
        ("a.py", ("",), (), "a", ""),
        ("src/pkg/a.py", ("src", ""), ("src/pkg/__init__.py",), "pkg.a", "src"),
        ("src/pkg/__init__.py", ("src", ""), ("src/pkg/__init__.py",), "pkg", "src"),
        ("src/space/pkg/a.py", ("src", ""), ("src/space/pkg/__init__.py",), "pkg.a", "src/space"),
        ("src/space/a.py", ("src", ""), (), "space.a", "src"),
        ("server/app/main.py", ("",), ("server/app/__init__.py",), "app.main", "server"),
        ("scripts/a.py", ("",), (), "scripts.a", ""),
    ],
)
def test_a_file_is_the_module_that_its_package_makes_it(
    path: str, roots: tuple[str, ...], files: tuple[str, ...], name: str, first: str
) -> None:
    module = at(path, roots=roots, files=files)

    assert module is not None
    assert (module.name, module.roots[0]) == (name, first)


@pytest.mark.parametrize(
    "path",
    [
        "pkg/__main__.py",
        "tests/helper.py",
        "pkg/test_a.py",
        "conftest.py",
        "setup.py",
        "my-script.py",
        "class.py",
        "a.js",
    ],
)
def test_what_nobody_imports_is_no_module(path: str) -> None:
    assert at(path) is None


def test_only_a_file_of_no_package_may_look_for_its_neighbours() -> None:
    loose, packaged = at("scripts/a.py"), at("pkg/a.py", files=("pkg/__init__.py",))

    assert loose is not None and loose.folder == "scripts" and not loose.in_package
    assert packaged is not None and packaged.in_package


def test_the_folder_of_a_project_within_the_checkout_is_imported_from() -> None:
    module = at("services/api/api/a.py", files=("services/api/pyproject.toml", "services/api/api/__init__.py"))

    assert module is not None
    assert (module.name, module.roots) == ("api.a", ("services/api", "services/api/src", ""))


def test_the_roots_are_those_that_the_manifest_tells_and_none_outside(tmp_path: Path) -> None:
    (tmp_path / "src/pkg").mkdir(parents=True)
    tests = '[tool.pytest.ini_options]\npythonpath = ["lib", "../up", "/etc"]\n'
    (tmp_path / "pyproject.toml").write_text(tests + '[tool.setuptools.packages.find]\nwhere = ["py"]\n')

    assert import_roots(tmp_path, (".", "/cache/site")) == ("/cache/site", "src", "py", "lib", "")


@pytest.mark.parametrize(
    ("text", "works"),
    [
        ('"""Words."""\nimport a\nX = make()\ndef f(): g()\nclass C:\n    f()\n', False),
        ("if __name__ == '__main__':\n    main()\n", False),
        ("try:\n    import a\nexcept ImportError:\n    a = None\n", False),
        ("main()\n", True),
        ("while True:\n    pass\n", True),
        ("if x:\n    main()\n", True),
        ("try:\n    main()\nfinally:\n    pass\n", True),
        ("x = '\\d'\n", False),
        ("def (", False),
        ("x = 1\nif a: pass\n" + "elif a: pass\n" * 900, True),
    ],
)
def test_a_script_is_what_works_at_its_top_level(text: str, works: bool) -> None:
    assert does_work(text) is works


def test_relative_imports_are_named_in_full() -> None:
    text = "from . import a\nfrom .b import c\nfrom ..d import e\nimport f.g\nfrom .. import h\n"

    assert imported_names(text, "top.pkg") >= {"top.pkg.a", "top.pkg.b", "top.d", "f.g", "top.h", "top.pkg.b.c"}


@pytest.mark.parametrize(
    "message",
    [
        "ImportError: cannot import name 'A' from partially initialized module 'pkg.a' (most likely due to a circular "
        "import) (/project/src/pkg/a.py)",
        "AttributeError: partially initialized module 'pkg.a' from '/project/src/pkg/a.py' has no attribute 'A' "
        "(most likely due to a circular import)",
        "AttributeError: cannot access submodule 'a' of module 'pkg' (most likely due to a circular import)",
    ],
)
def test_a_circular_import_is_the_way_from_a_module_back_to_it(message: str) -> None:
    assert import_cycle(CIRCULAR + message) == ("pkg.a", "pkg.sub", "pkg.sub.b", "pkg.a")


def test_other_errors_are_no_circle() -> None:
    assert import_cycle(CIRCULAR + "ImportError: cannot import name 'A' from 'pkg.a' (/project/src/pkg/a.py)") == ()
    assert import_cycle("ImportError: partially initialized module 'x'") == ()
