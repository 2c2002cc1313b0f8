"""The pattern add_dependency: one more package in the manifest of a project, its layout kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.dependencies import in_cargo, in_package_json, in_pyproject, in_requirements
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.sandbox.confined import PathRefused
from milepost.sources.manifests.adding import CannotAdd, Dependency

Adding = Callable[[str, Dependency], str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ecosystem:
    """How packages are named and bounded in a kind of manifest, and which locks go with it."""

    manifest: re.Pattern[str]
    add: Adding
    name: re.Pattern[str]
    version: re.Pattern[str]
    needs_version: bool
    locks: tuple[str, ...]


_PEP_508 = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._, -]+\])?")
_PEP_440 = re.compile(r"(?:~=|==|!=|<=|>=|<|>)\s*[\w.!+*-]+(?:\s*,\s*(?:~=|==|!=|<=|>=|<|>)\s*[\w.!+*-]+)*")
_NPM = re.compile(r"(?:@[a-z0-9._~-]+/)?[a-z0-9._~-]+")
_NPM_RANGE = re.compile(r"(?:\*|latest|next|[\^~<>=v0-9][\w.+\-*<>=^~|x ]*)")
_CARGO = re.compile(r"[A-Za-z][\w-]*")
_CARGO_RANGE = re.compile(r"[\^~=<>]*\s*[\d*][\w.+\-*]*(?:\s*,\s*[\^~=<>]*\s*[\d*][\w.+\-*]*)*")

ECOSYSTEMS = (
    Ecosystem(
        manifest=re.compile(r"(?:.*/)?pyproject\.toml"), add=in_pyproject, name=_PEP_508, version=_PEP_440,
        needs_version=False, locks=("uv.lock", "poetry.lock", "pdm.lock"),
    ),
    Ecosystem(
        manifest=re.compile(r"(?:.*/)?requirements[\w.-]*\.(?:txt|in)"), add=in_requirements, name=_PEP_508,
        version=_PEP_440, needs_version=False, locks=(),
    ),
    Ecosystem(
        manifest=re.compile(r"(?:.*/)?package\.json"), add=in_package_json, name=_NPM, version=_NPM_RANGE,
        needs_version=True, locks=("package-lock.json", "pnpm-lock.yaml", "yarn.lock"),
    ),
    Ecosystem(
        manifest=re.compile(r"(?:.*/)?Cargo\.toml"), add=in_cargo, name=_CARGO, version=_CARGO_RANGE,
        needs_version=True, locks=("Cargo.lock",),
    ),
)  # fmt: skip


class AddDependency:
    """Adds a package to pyproject.toml, a requirements file, package.json or Cargo.toml."""

    name = "add_dependency"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Add a package to pyproject.toml, requirements.txt, package.json or Cargo.toml.",
            {
                "name": {"type": "string", "minLength": 1, "maxLength": 214, "description": "the package"},
                "version": {"type": "string", "minLength": 1, "description": "a range, such as >=2,<3 or ^1.2"},
                "group": {
                    "type": "string",
                    "pattern": r"^[A-Za-z][A-Za-z0-9_-]*\Z",
                    "default": "main",
                    "description": "main, dev, or the name of another group",
                },
                "manifest": {"type": "string", "minLength": 1, "description": "needed where there are several"},
                "replace": {
                    "type": "boolean",
                    "default": False,
                    "description": "change the range of one that is there",
                },
            },
            required=("name",),
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        manifest = inputs.get("manifest", "")
        unknown = manifest and ecosystem_of(manifest) is None
        return (
            *problems_in(self.schema, inputs),
            *((f"manifest {manifest!r} is not of a known kind",) if unknown else ()),
            *(_dependency_problems(ecosystem_of(manifest), inputs)),
        )

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        path = values.get("manifest") or _only_manifest(site)
        ecosystem = ecosystem_of(path)
        if ecosystem is None:
            raise PathRefused(f"{path} is not of a known kind")
        if problems := _dependency_problems(ecosystem, inputs):
            raise PathRefused("; ".join(problems))
        dependency = Dependency(
            name=values["name"], version=values.get("version", ""), group=values["group"], replace=values["replace"]
        )
        before = site.text(path)
        try:
            site.write(path, ecosystem.add(before, dependency))
        except CannotAdd as refusal:
            raise PathRefused(f"{path}: {refusal}") from refusal
        folder = path.rpartition("/")[0]
        locks = [lock for lock in ecosystem.locks if site.holds(f"{folder}/{lock}" if folder else lock)]
        if locks and site.changes:
            site.say(f"{', '.join(locks)} is not updated: that needs the package index")


def ecosystem_of(path: str) -> Ecosystem | None:
    """What kind of manifest a path is."""
    return next((each for each in ECOSYSTEMS if each.manifest.fullmatch(path)), None)


def _only_manifest(site: PendingChanges) -> str:
    found = [path for path in site.paths() if "/" not in path and ecosystem_of(path) is not None]
    if "pyproject.toml" in found:  # requirements files beside it mostly repeat what it says
        found = [path for path in found if not path.startswith("requirements")]
    if len(found) != 1:
        named = f"there are several: {', '.join(found)}" if found else "there is none at the top of the project"
        raise PathRefused(f"manifest is missing: {named}")
    return found[0]


def _dependency_problems(ecosystem: Ecosystem | None, inputs: Mapping[str, str]) -> tuple[str, ...]:
    """What is wrong with a package for a kind of manifest; where the kind is not known yet, for all of them."""
    name, version = inputs.get("name", ""), inputs.get("version")
    kinds = [ecosystem] if ecosystem is not None else list(ECOSYSTEMS)
    problems: list[str] = []
    if name and not any(kind.name.fullmatch(name) for kind in kinds):
        problems.append(f"name {name!r:.100} is not a valid package name")
    if version is not None and not any(kind.version.fullmatch(version) for kind in kinds):
        problems.append(f"version {version!r:.100} is not a version range")
    if version is None and all(kind.needs_version for kind in kinds):
        problems.append("version is missing: this kind of manifest needs one")
    return tuple(problems)
