from __future__ import annotations

from pathlib import Path

from milepost.core.shipping import Artifact, ArtifactKind
from milepost.ship.recipe import Component
from milepost.ship.sbom import Origin, provenance_of, sbom_of

ARTIFACT = Artifact(
    kind=ArtifactKind.WHEEL, name="a", version="1", path=Path("/x/a.whl"), sha256="ab", size=1, tree="t", commit="c"
)


def test_a_bill_of_materials_lists_what_is_needed_and_not_the_artifact_itself() -> None:
    needs = Component(purl="pkg:pypi/b@2", name="b", version="2", licence="MIT", digest="sha256:cd")
    own = Component(purl="pkg:pypi/a@1", name="a", version="1")
    made = sbom_of(ARTIFACT, (own, needs), "0.1")
    assert made["metadata"]["component"]["hashes"] == [{"alg": "SHA-256", "content": "ab"}]
    assert made["components"] == [
        {
            "type": "library",
            "bom-ref": "pkg:pypi/b@2",
            "name": "b",
            "version": "2",
            "purl": "pkg:pypi/b@2",
            "licenses": [{"license": {"name": "MIT"}}],
            "hashes": [{"alg": "SHA-256", "content": "cd"}],
        }
    ]
    assert made["dependencies"] == [{"ref": "a@1", "dependsOn": ["pkg:pypi/b@2"]}]


def test_provenance_names_what_the_artifact_was_made_of_and_no_folder_of_this_machine() -> None:
    origin = Origin(
        builder="wheel@1",
        started="2026-01-01T00:00:00Z",
        finished="2026-01-01T00:00:09Z",
        argv=(("{kit}/env/bin/python", "-m", "build"),),
        tools={"python": "3.12"},
        mileposts=(("1.1", "c", "sha256:ef"),),
        unproven="",
        ran="called",
        generated=("pyproject.toml",),
    )
    made = provenance_of(ARTIFACT, origin)
    assert made["subject"] == [{"name": "a.whl", "digest": {"sha256": "ab"}}]
    definition = made["predicate"]["buildDefinition"]
    assert definition["internalParameters"]["commands"] == [["{kit}/env/bin/python", "-m", "build"]]
    assert definition["resolvedDependencies"][0]["digest"] == {"gitCommit": "c", "gitTree": "t"}
    evidence = made["predicate"]["runDetails"]["byproducts"][0]["annotations"]
    assert evidence["mileposts"] == [{"task": "1.1", "commit": "c", "evidence": "sha256:ef"}]
    assert "/x/" not in str(made)
