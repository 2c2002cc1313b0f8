"""A package.json, and what else declares packages of JavaScript: pnpm-workspace.yaml, lerna.json."""

from __future__ import annotations

from collections.abc import Iterable

from milepost.plan.projects.manifest import Manifest, from_json, table, text, texts

_DEPENDENCIES = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_PATHS = ("file:", "link:", "portal:")


def read_package(content: str) -> Manifest:
    """What a package.json says; its workspaces are a list, or a table with one."""
    package = from_json(content)
    workspaces = package.get("workspaces")
    given = table(workspaces).get("packages") if isinstance(workspaces, dict) else workspaces
    needed = {name: text(value) for key in _DEPENDENCIES for name, value in table(package.get(key)).items()}
    paths = [value.removeprefix(lead) for value in needed.values() for lead in _PATHS if value.startswith(lead)]
    members, left_out = _split(texts(given))
    return Manifest(
        kind="javascript",
        name=text(package.get("name")),
        members=members,
        left_out=left_out,
        needs=tuple(_real_name(name, value) for name, value in needed.items()),
        paths=tuple(path for path in paths if not path.endswith((".tgz", ".tar.gz"))),
    )


def read_pnpm(content: str) -> Manifest:
    """What a pnpm-workspace.yaml says."""
    import yaml  # type: ignore[import-untyped]

    try:
        whole = yaml.safe_load(content)
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from error
    members, left_out = _split(texts(table(whole).get("packages")))
    return Manifest(kind="javascript", members=members, left_out=left_out)


def read_lerna(content: str) -> Manifest:
    """What a lerna.json says."""
    members, left_out = _split(texts(from_json(content).get("packages")))
    return Manifest(kind="javascript", members=members, left_out=left_out)


def _split(patterns: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Patterns, and those after a `!`, which take back."""
    given = tuple(patterns)
    taken_back = tuple(pattern[1:] for pattern in given if pattern.startswith("!"))
    return tuple(pattern for pattern in given if not pattern.startswith("!")), taken_back


def _real_name(name: str, value: str) -> str:
    """The package that is meant where `npm:` or `workspace:` gives it another name: `npm:@acme/api@^1`."""
    for lead in ("npm:", "workspace:"):
        alias = value.removeprefix(lead)
        real = alias[: alias.rfind("@")] if alias.rfind("@") > 0 else ""
        if value.startswith(lead) and real:
            return real
    return name
