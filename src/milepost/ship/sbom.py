"""What an artifact contains or needs (CycloneDX), and where it comes from (in-toto, SLSA), as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from milepost.core.shipping import Artifact
from milepost.ship.recipe import Component

_TYPES = {"wheel": "library", "npm": "library", "static": "application", "rust": "application", "image": "container"}
_HASHES = {"sha256": "SHA-256", "sha512": "SHA-512", "sha1": "SHA-1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """How an artifact came to be. `mileposts` are task, commit and evidence; without them it is unproven.

    `argv` are the commands as the recipe has them, with names in the place of folders.
    """

    builder: str
    started: str
    finished: str
    argv: tuple[tuple[str, ...], ...]
    tools: Mapping[str, str]
    mileposts: tuple[tuple[str, str, str], ...]
    unproven: str
    ran: str
    generated: tuple[str, ...]


def sbom_of(artifact: Artifact, components: tuple[Component, ...], version: str) -> dict[str, Any]:
    """The bill of materials, the same for the same artifact and components."""
    main = {
        "type": _TYPES[artifact.kind],
        "bom-ref": f"{artifact.name}@{artifact.version}",
        "name": artifact.name,
        "version": artifact.version,
        "hashes": [{"alg": "SHA-256", "content": artifact.sha256}],
    }
    listed = [_listed(one) for one in components if (one.name, one.version) != (artifact.name, artifact.version)]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": main,
            "tools": {"components": [{"type": "application", "name": "milepost", "version": version}]},
        },
        "components": listed,
        "dependencies": [{"ref": main["bom-ref"], "dependsOn": [one["bom-ref"] for one in listed]}],
    }


def provenance_of(artifact: Artifact, origin: Origin) -> dict[str, Any]:
    """An in-toto statement about the artifact with SLSA's predicate."""
    mileposts = [{"task": task, "commit": commit, "evidence": evidence} for task, commit, evidence in origin.mileposts]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": artifact.path.name, "digest": {"sha256": artifact.sha256}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"milepost/package/{artifact.kind}",
                "externalParameters": {"commit": artifact.commit, "kind": str(artifact.kind)},
                "internalParameters": {"commands": [list(argv) for argv in origin.argv]},
                "resolvedDependencies": [
                    {"name": "source", "digest": {"gitCommit": artifact.commit, "gitTree": artifact.tree}},
                    *(
                        {"name": name, "annotations": {"version": found}}
                        for name, found in sorted(origin.tools.items())
                    ),
                ],
            },
            "runDetails": {
                "builder": {"id": f"milepost/{origin.builder}", "version": dict(origin.tools)},
                "metadata": {"startedOn": origin.started, "finishedOn": origin.finished},
                "byproducts": [
                    {
                        "name": "evidence",
                        "annotations": {"mileposts": mileposts, "unproven": origin.unproven, "ran": origin.ran},
                    },
                    {"name": "generated", "annotations": {"files": list(origin.generated)}},
                ],
            },
        },
    }


def _listed(one: Component) -> dict[str, Any]:
    listed: dict[str, Any] = {"type": "library", "bom-ref": one.purl, "name": one.name, "version": one.version}
    listed["purl"] = one.purl
    if one.licence:
        listed["licenses"] = [{"license": {"name": one.licence}}]
    name, _, value = one.digest.partition(":")
    if value and name in _HASHES:
        listed["hashes"] = [{"alg": _HASHES[name], "content": value}]
    return listed
