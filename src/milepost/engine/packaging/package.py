"""Packaging a commit: it is proven or said not to be, checked out clean, built and tried in the sandbox, and kept."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from milepost.core.errors import NotProven, PlaceUnknown
from milepost.core.shipping import Artifact, ArtifactKind
from milepost.core.unified_diff import unified_diff
from milepost.engine.packaging.proven import Standing, standing_of
from milepost.engine.packaging.sign import sign
from milepost.engine.packaging.workshop import open_workshop, tool_versions
from milepost.engine.project.project import Project
from milepost.engine.project.settings.load import COMMANDS, load
from milepost.engine.project.settings.settings import Settings
from milepost.engine.project.state_directory import make_state
from milepost.engine.project.version import installed_version
from milepost.engine.terminals.interpreter import outside_environment
from milepost.ship.build import build as build_artifact
from milepost.ship.builders import kind_of
from milepost.ship.kept_artifacts import PROVENANCE, SBOM, Kept, KeptArtifacts
from milepost.ship.kinds import MatchingKind, chosen_kind, fitting_kinds
from milepost.ship.recipe import Kind, Options, Source
from milepost.ship.sbom import Origin, provenance_of, sbom_of
from milepost.workspace.mileposts import Mileposts

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Packaged:
    """An artifact, and what is told of it. `cached` says that it was built before, from the same tree.

    `unproven` is why its commit is not proven, empty where it is. `generated` are manifests that the project lacks, and
    `diff` is what they change in it.
    """

    artifact: Artifact
    reason: str
    cached: bool
    ran: str
    others: tuple[str, ...]
    mileposts: int
    unproven: str
    generated: Mapping[str, str]
    diff: str
    duration_ms: int
    signed_by: str


def build(project: Project, *, commit: str = "", kind: ArtifactKind | None = None, unproven: bool = False) -> Artifact:
    """The artifact of a commit: built, tried and kept, or kept from before and whole."""
    return package(project, commit=commit, kind=kind, unproven=unproven).artifact


def package(
    project: Project,
    *,
    commit: str = "",
    kind: ArtifactKind | None = None,
    unproven: bool = False,
    say: Say = lambda _: None,
) -> Packaged:
    """The same, with all that is told of it. `commit` is one by any name; empty is where the user stands."""
    settings = load(project.roadmap.parent, uses=(*COMMANDS, "package"))
    with tempfile.TemporaryDirectory(prefix="milepost-") as folder:
        own = Path(folder)
        mileposts = Mileposts(project.repository.git(own / "git"))
        named = _commit(project, mileposts, commit)
        standing = _require_proven(standing_of(project, mileposts, named), unproven)
        source = _source(project, mileposts, named, settings)
        fit = _fitting(source, kind or _kind(settings))
        builder = kind_of(fit.kind)
        make_state(project.state)
        artifacts = KeptArtifacts(project.state / "artifacts")
        key = _key(builder, mileposts.tree_of(named), source.options)
        kept = artifacts.find(key)
        cached = kept is not None
        if kept is None:
            say(f"packaging {named[:7]} as {fit.kind}: {fit.reason}")
            kept = _built(project, settings, own, builder, source, artifacts, key, named, mileposts, standing, say)
    told = kept.told
    return Packaged(
        artifact=replace(kept.artifact, commit=named),
        reason=fit.reason,
        cached=cached,
        ran=str(told["ran"]),
        others=tuple(told["others"]),
        mileposts=len(standing.mileposts),
        unproven=standing.problem,
        generated=dict(told["generated"]),
        diff=_diff(source, dict(told["generated"])),
        duration_ms=int(told["duration_ms"]),
        signed_by=str(told["signed_by"]),
    )


def _commit(project: Project, mileposts: Mileposts, name: str) -> str:
    found = mileposts.resolve(name) if name and not name.startswith("-") else project.repository.position().commit
    if not found:
        raise PlaceUnknown(f"there is no commit {name!r}", "milepost log lists the mileposts")
    return found


def _require_proven(standing: Standing, unproven: bool) -> Standing:
    if standing.problem and not unproven:
        instead = f"package what was proven: milepost package {standing.last[:7]}   or " if standing.last else ""
        raise NotProven(standing.problem, f"{instead}package it as it is, and have that recorded: --unproven")
    return standing


def _source(project: Project, mileposts: Mileposts, commit: str, settings: Settings) -> Source:
    blobs = mileposts.blobs_at(commit)
    path = outside_environment(os.environ, project.repository.top)["PATH"]
    given = settings.package

    def read(name: str) -> bytes | None:
        return mileposts.file_at(commit, name) if name in blobs else None

    return Source(
        name=project.repository.top.name,
        files=tuple(sorted(blobs)),
        read=read,
        time=mileposts.time_of(commit),
        has=lambda program: shutil.which(program, path=path) is not None,
        options=Options(
            command=tuple(given.command),
            trial=tuple(given.trial),
            base=project.roadmap.parent / Path(given.base).expanduser() if given.base else None,
        ),
    )


def _kind(settings: Settings) -> ArtifactKind | None:
    return ArtifactKind(settings.package.kind) if settings.package.kind else None


def _fitting(source: Source, asked: ArtifactKind | None) -> MatchingKind:
    fits = fitting_kinds(source.files, source.read)
    if asked is None:
        return chosen_kind(fits)
    return next((fit for fit in fits if fit.kind is asked), MatchingKind(kind=asked, reason="as asked"))


def _key(kind: Kind, tree: str, options: Options) -> str:
    """What an artifact is kept by: the tree, the way it is built, and what the settings say about that."""
    base = options.base
    facts = [(str(one), one.stat().st_mtime_ns) for one in ([base] if base and base.exists() else [])]
    made_of = (kind.version, tree, options.command, options.trial, str(base), facts)
    return f"{kind.kind}-{hashlib.sha256(json.dumps(made_of).encode()).hexdigest()[:20]}"


def _built(
    project: Project,
    settings: Settings,
    own: Path,
    kind: Kind,
    source: Source,
    artifacts: KeptArtifacts,
    key: str,
    commit: str,
    mileposts: Mileposts,
    standing: Standing,
    say: Say,
) -> Kept:
    started = _now()
    with artifacts.draft() as draft, open_workshop(project, settings, own, commit, say) as workshop:
        built = build_artifact(kind, source, workshop, draft)
        product = built.product
        artifact = Artifact(
            kind=kind.kind,
            name=product.name,
            version=product.version,
            path=product.path,
            sha256=product.sha256,
            size=product.size,
            tree=mileposts.tree_of(commit),
            commit=commit,
            start=product.start,
        )
        origin = Origin(
            builder=f"{kind.kind}@{kind.version}",
            started=started,
            finished=_now(),
            argv=built.argv,
            tools=tool_versions(workshop, built),
            mileposts=tuple((post.task, post.commit, post.evidence) for post in standing.mileposts),
            unproven=standing.problem,
            ran=built.ran,
            generated=tuple(built.generated),
        )
        _write(draft / SBOM, sbom_of(artifact, built.components, installed_version()))
        _write(draft / PROVENANCE, provenance_of(artifact, origin))
        signed_by = sign(draft / PROVENANCE, settings.package, say)
        told = {
            "ran": built.ran if not product.note else f"{built.ran}; {product.note}",
            "others": [path.relative_to(draft).as_posix() for path in product.others],
            "generated": {name: content.decode("utf-8", "replace") for name, content in built.generated.items()},
            "duration_ms": built.duration_ms,
            "signed_by": signed_by,
        }
        return artifacts.keep(key, draft, artifact, told)


def _diff(source: Source, generated: Mapping[str, str]) -> str:
    """What generated files change, as git applies it; a file of the user's is changed by nobody else."""
    parts = []
    for name, text in sorted(generated.items()):
        before = (source.read(name) or b"").decode("utf-8", "replace").splitlines(keepends=True)
        there = name in source.files
        head = f"diff --git a/{name} b/{name}\n" + ("" if there else "new file mode 100644\n")
        old = f"a/{name}" if there else "/dev/null"
        parts.append(head + "".join(unified_diff(before, text.splitlines(keepends=True), old, f"b/{name}")))
    return "".join(parts)


def _write(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
