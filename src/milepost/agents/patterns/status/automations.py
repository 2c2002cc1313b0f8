"""What runs by itself in a project, told from its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Literal

from milepost.sandbox.confined import PathRefused
from milepost.sources.parse_documents import at, json_of, toml_of

Kind = Literal["ci", "hooks", "format", "lint", "types", "updates", "milepost"]
State = Literal["on", "manual", "off"]
ReadText = Callable[[str], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Automation:
    """One automation: `manual` means that it is set up and waits for a person, `where` is the file that says so."""

    kind: Kind
    name: str
    state: State
    where: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """What tells of an automation: files by their names, or a table of pyproject.toml, or a key of package.json."""

    kind: Kind
    name: str
    files: tuple[str, ...] = ()
    table: str = ""
    key: str = ""


SIGNS = (
    Sign(kind="ci", name="GitHub Actions", files=(".github/workflows/*.yml", ".github/workflows/*.yaml")),
    Sign(kind="ci", name="GitLab CI", files=(".gitlab-ci.yml",)),
    Sign(kind="ci", name="Forgejo Actions", files=(".forgejo/workflows/*.y*ml", ".gitea/workflows/*.y*ml")),
    Sign(kind="ci", name="CircleCI", files=(".circleci/config.yml",)),
    Sign(kind="ci", name="Azure Pipelines", files=("azure-pipelines.yml", ".azure-pipelines/*.yml")),
    Sign(kind="ci", name="Jenkins", files=("Jenkinsfile",)),
    Sign(kind="ci", name="Travis CI", files=(".travis.yml",)),
    Sign(kind="ci", name="Bitbucket Pipelines", files=("bitbucket-pipelines.yml",)),
    Sign(kind="ci", name="Buildkite", files=(".buildkite/*.yml",)),
    Sign(kind="ci", name="Woodpecker", files=(".woodpecker.yml", ".woodpecker/*.y*ml")),
    Sign(kind="hooks", name="pre-commit", files=(".pre-commit-config.yaml",)),
    Sign(kind="hooks", name="husky", files=(".husky/pre-commit", ".husky/pre-push", ".husky/commit-msg")),
    Sign(kind="hooks", name="lefthook", files=("lefthook.yml", ".lefthook.yml", "lefthook.toml")),
    Sign(kind="hooks", name="lint-staged", files=(".lintstagedrc*",), key="lint-staged"),
    Sign(kind="format", name="ruff format", table="tool.ruff.format"),
    Sign(kind="format", name="black", table="tool.black"),
    Sign(kind="format", name="prettier", files=(".prettierrc*", "prettier.config.*"), key="prettier"),
    Sign(kind="format", name="biome", files=("biome.json", "biome.jsonc")),
    Sign(kind="format", name="rustfmt", files=("rustfmt.toml", ".rustfmt.toml")),
    Sign(kind="format", name="clang-format", files=(".clang-format",)),
    Sign(kind="format", name="EditorConfig", files=(".editorconfig",)),
    Sign(kind="lint", name="ruff", files=("ruff.toml", ".ruff.toml"), table="tool.ruff"),
    Sign(kind="lint", name="eslint", files=("eslint.config.*", ".eslintrc*"), key="eslintConfig"),
    Sign(kind="lint", name="golangci-lint", files=(".golangci.y*ml", ".golangci.toml")),
    Sign(kind="types", name="mypy", files=("mypy.ini", ".mypy.ini"), table="tool.mypy"),
    Sign(kind="types", name="pyright", files=("pyrightconfig.json",), table="tool.pyright"),
    Sign(kind="types", name="TypeScript", files=("tsconfig.json",)),
    Sign(kind="updates", name="Dependabot", files=(".github/dependabot.y*ml",)),
    Sign(
        kind="updates",
        name="Renovate",
        files=("renovate.json", "renovate.json5", ".renovaterc", ".renovaterc.json", ".github/renovate.json"),
        key="renovate",
    ),
    Sign(kind="milepost", name="Milepost", files=("milepost.toml", "*/milepost.toml")),
)


def automations(paths: tuple[str, ...], read: ReadText) -> tuple[Automation, ...]:
    """Every automation that is looked for, each workflow for itself; those that are not there are off."""
    pyproject = toml_of(_text(read, "pyproject.toml") if "pyproject.toml" in paths else "")
    package = json_of(_text(read, "package.json") if "package.json" in paths else "")
    return tuple(found for sign in SIGNS for found in _found(sign, paths, read, pyproject, package))


def _found(
    sign: Sign, paths: tuple[str, ...], read: ReadText, pyproject: dict[str, Any], package: dict[str, Any]
) -> Iterator[Automation]:
    there = [path for path in paths if any(_matches(path, pattern) for pattern in sign.files)]
    for path in there:
        state, detail = _workflow(_text(read, path)) if "/workflows/" in path else ("on", _detail(sign, path, read))
        yield Automation(kind=sign.kind, name=sign.name, state=state, where=path, detail=detail)
    if there:
        return
    if sign.table and isinstance(at(pyproject, *sign.table.split(".")), dict):
        yield Automation(kind=sign.kind, name=sign.name, state="on", where="pyproject.toml", detail=f"[{sign.table}]")
    elif sign.key and sign.key in package:
        yield Automation(kind=sign.kind, name=sign.name, state="on", where="package.json", detail=sign.key)
    else:
        yield Automation(kind=sign.kind, name=sign.name, state="off")


def _matches(path: str, pattern: str) -> bool:
    """Whether a path is one of a pattern, whose stars do not cross a slash."""
    parts, wanted = path.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _workflow(text: str) -> tuple[State, str]:
    """Whether a workflow starts by itself, and what starts it, as far as its first lines tell."""
    name = re.search(r"^name:\s*['\"]?(.+?)['\"]?\s*$", text, re.MULTILINE)
    block = re.search(r"^['\"]?on['\"]?:[ \t]*(.*(?:\n(?:[ \t]+.*|[ \t]*))*)", text, re.MULTILINE)
    told = re.sub(r"#.*", "", block[1]) if block else ""
    first = re.search(r"^([ \t]+)[\w-]+:", told, re.MULTILINE)
    keyed = re.findall(rf"^{first[1]}([\w-]+):", told, re.MULTILINE) if first else re.findall(r"[a-z][\w-]+", told)
    detail = ", ".join(filter(None, (name[1] if name else "", f"on {' '.join(keyed)}" if keyed else "")))
    by_itself = [event for event in keyed if event not in ("workflow_dispatch", "workflow_call")]
    return ("on" if by_itself else "manual"), detail


def _detail(sign: Sign, path: str, read: ReadText) -> str:
    if sign.name == "pre-commit":
        return ", ".join(re.findall(r"^\s*-\s*id:\s*([\w-]+)", _text(read, path), re.MULTILINE))
    if sign.name == "Dependabot":
        found = re.findall(r"package-ecosystem:\s*['\"]?([\w-]+)", _text(read, path))
        return ", ".join(dict.fromkeys(found))
    if sign.kind == "milepost":
        agent = re.search(r"^agent\s*=\s*[\"'](.+?)[\"']", _text(read, path), re.MULTILINE)
        return f"agent {agent[1]}" if agent else ""
    return ""


def _text(read: ReadText, path: str) -> str:
    try:
        return read(path)
    except PathRefused:  # no text, or a link out of the project: it is there, and says nothing more
        return ""
