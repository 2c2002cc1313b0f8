from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.core.task import Task
from milepost.verify.guard.check import findings

TASK = Task(id="1", title="Add a total", status="open", line=1)


def found(before: str | None, after: str, path: str, task: Task = TASK) -> list[str]:
    file = ChangedFile(path=path, before=before.encode() if before is not None else None, after=after.encode())
    return [finding.what for finding in findings(Change(files=(file,)), task)]


LIES = [
    (".npmrc", None, "script-shell=/bin/true\n"),
    (".npmrc", "save-exact=true\n", "save-exact=true\nscript-shell = ./bin/bash\n"),
    (".npmrc", None, "node-options=--require ./quiet.cjs\n"),
    (".npmrc", None, "node-options=--import=data:text/javascript,process.exit()\n"),
    (".npmrc", None, "ignore-scripts=true\n"),
    (".npmrc", None, "if-present=true\n"),
    ("packages/a/.npmrc", None, "script_shell=true\n"),
    (".yarnrc", None, 'script-shell "/bin/true"\n'),
    (".yarnrc.yml", None, "yarnPath: ./yarn.cjs\n"),
    ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:\n  - a\nscriptShell: /bin/true\n"),
    (".env", "A=1\n", "A=1\nNODE_OPTIONS=--require ./quiet.cjs\n"),
    (".env", "A=1\n", "A=1\nexport PYTHONSTARTUP=x.py\n"),
    (".envrc", None, "export LD_PRELOAD=./x.so\n"),
    ("mise.toml", None, '[env]\nNODE_OPTIONS = "-r ./x.cjs"\n'),
    (".cargo/config.toml", None, '[target.x86_64-unknown-linux-gnu]\nrunner = "true"\n'),
    (".cargo/config.toml", None, '[alias]\ntest = "version"\n'),
    (".mvn/maven.config", None, "-DskipTests\n"),
    ("pom.xml", "<project/>\n", "<project><testFailureIgnore>true</testFailureIgnore></project>\n"),
    ("build.gradle", "test {}\n", "test { ignoreFailures = true }\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), LIES)
def test_a_setting_that_changes_how_scripts_run_is_found(path: str, before: str | None, after: str) -> None:
    assert found(before, after, path)
    assert found(after, f"{after}\n", path) == []


HONEST = [
    (".npmrc", None, "save-exact=true\nengine-strict=true\nregistry=https://registry.example/\n"),
    (".npmrc", None, "script-shell=bash\nnode-options=--max-old-space-size=4096\nignore-scripts=false\n"),
    (".npmrc", "script-shell=/bin/true\n", "script-shell=/bin/true\nfund=false\n"),
    (".yarnrc.yml", None, "nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.0.0.cjs\n"),
    (".nvmrc", None, "20\n"),
    (".env", "A=1\n", "A=1\nNODE_OPTIONS=--max-old-space-size=4096\nPYTHONPATH=src\n"),
    (".cargo/config.toml", None, '[alias]\nxtask = "run --package xtask --"\n'),
    ("build.gradle", "test {}\n", "test { useJUnitPlatform() }\n"),
    ("pnpm-workspace.yaml", "packages:\n  - a\n", "packages:\n  - a\n  - b\n"),
]


@pytest.mark.parametrize(("path", "before", "after"), HONEST)
def test_a_setting_that_does_not_is_no_finding(path: str, before: str | None, after: str) -> None:
    assert found(before, after, path) == []


def test_a_test_script_may_have_options_but_no_code_of_its_own_before_the_tests() -> None:
    def package(test: str) -> str:
        return f'{{"scripts": {{"test": "{test}"}}}}'

    for test in ("node --require ./quiet.cjs --test", "NODE_OPTIONS=--import=./quiet.mjs node --test"):
        assert found(package("node --test"), package(test), "package.json")
    for test in ("NODE_OPTIONS=--experimental-vm-modules jest", "node --import tsx --test"):
        assert found(package("jest; node --test"), package(f"jest; {test}; node --test"), "package.json") == []
