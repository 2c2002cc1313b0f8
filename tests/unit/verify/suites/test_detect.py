from __future__ import annotations

import json
from pathlib import Path

import pytest

from milepost.core.errors import SettingInvalid
from milepost.verify.suites.detect import suites

TEST = "def test_a():\n    pass\n"
NODE_TEST = 'const test = require("node:test");\n'


def package(test: str, **more: object) -> str:
    return json.dumps({"scripts": {"test": test}, **more})


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({"README.md": ""}, [], id="nothing"),
        pytest.param({"tests/test_a.py": TEST}, ["python"], id="python"),
        pytest.param({"package.json": package("vitest run")}, ["vitest"], id="vitest"),
        pytest.param({"package.json": package("jest && vitest")}, ["vitest", "jest"], id="two runners"),
        pytest.param({"package.json": package("mocha")}, ["npm test"], id="another runner"),
        pytest.param({"package.json": "{}", "a.test.js": NODE_TEST}, ["node --test"], id="no script"),
        pytest.param({"package.json": "{}"}, [], id="a package without tests"),
        pytest.param({"Cargo.toml": "[package]", "crates/a/Cargo.toml": ""}, ["cargo test", "crates/a cargo test"]),
        pytest.param({"Cargo.toml": "[workspace]", "crates/a/Cargo.toml": ""}, ["cargo test"], id="a workspace"),
        pytest.param({"go.mod": "", "tools/go.mod": ""}, ["go test", "tools go test"], id="two modules"),
        pytest.param({"pom.xml": "<module>a</module>", "a/pom.xml": ""}, ["maven"], id="maven modules"),
        pytest.param({"build.gradle.kts": "", "a/build.gradle": ""}, ["gradle"], id="gradle projects"),
        pytest.param({"CMakeLists.txt": "", "t/CMakeLists.txt": "add_test(NAME a)"}, ["ctest"], id="ctest"),
        pytest.param({"CMakeLists.txt": "project(a)"}, [], id="cmake without tests"),
        pytest.param({"Makefile": "all test: lib\n\ttrue\n"}, ["make test"], id="make"),
        pytest.param({"Makefile": "test_all:\n\ttrue\ntests := a\n"}, [], id="make without test"),
        pytest.param({"Makefile": "test:\n\tpytest\n", "test_a.py": TEST}, ["python"], id="make that calls pytest"),
        pytest.param(
            {"package.json": package("npm test --workspaces"), "web/package.json": package("jest"), "test_a.py": TEST},
            ["python", "web jest"],
            id="a monorepo whose top calls its packages",
        ),
        pytest.param(
            {"package.json": package("vitest"), "web/package.json": package("vitest")},
            ["vitest"],
            id="packages that the top runs itself",
        ),
        pytest.param(
            {"package.json": package("vitest lib"), "web/package.json": package("vitest")},
            ["vitest", "web vitest"],
            id="packages that the top leaves out",
        ),
        pytest.param(
            {f"{name}/node_modules/x/package.json": package("jest") for name in (".", "build", "target")},
            [],
            id="what is installed or built",
        ),
        pytest.param(
            {
                "a/pyproject.toml": "[tool.pytest.ini_options]",
                "a/test_a.py": TEST,
                "b/setup.py": "",
                "b/pytest.ini": "",
                "b/test_b.py": TEST,
            },
            ["a python", "b python"],
            id="python projects side by side",
        ),
        pytest.param(
            {"a/pyproject.toml": "[tool.pytest.ini_options]", "a/test_a.py": TEST, "test_top.py": TEST},
            ["python"],
            id="a python project with another inside",
        ),
    ],
)
def test_suites_are_found_by_their_files(tmp_path: Path, files: dict[str, str], found: list[str]) -> None:
    write(tmp_path, files)

    assert [f"{suite.folder} {suite.runner.name}".strip() for suite in suites(tmp_path)] == found


def test_a_setting_may_say_which_runners_to_use(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": TEST, "Makefile": "test:\n", "Cargo.toml": "", "package.json": package("jest")})

    def named(*only: str) -> list[str]:
        return [suite.runner.name for suite in suites(tmp_path, only)]

    assert named("pytest") == ["pytest"]
    assert named("unittest", "cargo") == ["unittest", "cargo test"]
    assert named("make") == ["make test"]
    assert named("python", "jest") == ["python", "jest"]
    assert named("vitest") == []
    with pytest.raises(SettingInvalid, match="there is no test runner 'pytset'"):
        named("pytest", "pytset")


def test_links_are_not_followed(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/package.json": package("jest"), "checkout/README.md": ""})
    (tmp_path / "checkout/web").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "checkout/package.json").symlink_to(tmp_path / "elsewhere/package.json")

    assert suites(tmp_path / "checkout") == ()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
