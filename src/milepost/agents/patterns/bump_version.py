"""The pattern bump_version: one version in all the places that state it."""

from __future__ import annotations

from collections.abc import Mapping

from milepost.agents.models.schema import Schema
from milepost.agents.patterns.inputs import inputs_schema, problems_in, values_in
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.versions import PARTS, VERSION, bumped, is_place, stated_in, with_heading, with_version
from milepost.sandbox.confined import PathRefused

CHANGELOG = "CHANGELOG.md"


class BumpVersion:
    """Changes the version in manifests, `__version__` and the changelog, all of them together or none."""

    name = "bump_version"

    @property
    def schema(self) -> Schema:
        return inputs_schema(
            "Change the version in manifests, __version__ and CHANGELOG.md together.",
            {
                "part": {
                    "type": "string",
                    "enum": list(PARTS),
                    "description": "which part of the committed version to raise",
                },
                "version": {"type": "string", "pattern": rf"^{VERSION}\Z", "description": "or the new version itself"},
                "date": {
                    "type": "string",
                    "pattern": r"^\d{4}-\d{2}-\d{2}\Z",
                    "description": "the date in the changelog heading",
                },
            },
        )

    def validate_inputs(self, inputs: Mapping[str, str]) -> tuple[str, ...]:
        one = ("part" in inputs) != ("version" in inputs)
        return (*problems_in(self.schema, inputs), *(() if one else ("give either part or version",)))

    def execute(self, inputs: Mapping[str, str], site: PendingChanges) -> None:
        values = values_in(self.schema, inputs)
        stated = {path: version for path in site.paths() if is_place(path) and (version := _stated(site, path))}
        if not stated:
            raise PathRefused("no file here states a version")
        new = values.get("version") or bumped(_committed(site, stated), values["part"])
        old = {path: version for path, version in stated.items() if version != new}
        if len(set(old.values())) > 1:
            told = ", ".join(f"{path} has {version}" for path, version in old.items())
            raise PathRefused(f"the files do not agree on the version: {told}")
        for path in old:
            site.write(path, with_version(path, site.text(path), new))
        changelog = site.text_if_there(CHANGELOG)
        if changelog is not None:
            site.write(CHANGELOG, with_heading(changelog, new, values.get("date", "")))
        site.say(f"version {next(iter(old.values()), new)} → {new}")


def _stated(site: PendingChanges, path: str) -> str:
    """The version in a file; a manifest that cannot be read is refused, for it might hold one."""
    try:
        return stated_in(path, site.text(path))
    except PathRefused:
        if path.endswith(".py"):
            return ""
        raise


def _committed(site: PendingChanges, stated: Mapping[str, str]) -> str:
    """The version that is committed: to go up from what the files say would go up again each time it is run."""
    found = set()
    for path in stated:
        shown = site.ask("git", "show", f"HEAD:./{path}")
        if shown.succeeded and (version := stated_in(path, shown.stdout)):
            found.add(version)
    if len(found) != 1:
        told = f"commits disagree: {', '.join(sorted(found))}" if found else "no version is committed"
        raise PathRefused(f"{told}; give version=… instead of part")
    return found.pop()
