"""What is built, where it is deployed, and what is measured there."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class ArtifactKind(StrEnum):
    WHEEL = "wheel"
    NPM = "npm"
    STATIC = "static"
    RUST = "rust"
    IMAGE = "image"
    TREE = "tree"
    """The files of the commit as they are, started by a command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What was built from one tree: a file, or a folder for a static site and an image layout."""

    kind: ArtifactKind
    name: str
    version: str
    path: Path
    sha256: str
    """Of the file; of a folder's manifest for a static site; the manifest digest of an image."""
    size: int
    tree: str
    """The git tree it was built from."""
    commit: str
    """The milepost, or the commit that was named."""
    start: tuple[str, ...] = ()
    """How it is started: a command that the package installs or the image has. Empty for a static site."""


class Stage(StrEnum):
    """Where a release is in its life. `core.release_life` says which follows which."""

    BUILDING = "building"
    WAITING = "waiting"
    """It is built, and a person is asked before anything of it leaves for the target."""
    UPLOADING = "uploading"
    STARTING = "starting"
    CHECKING = "checking"
    SWITCHING = "switching"
    SOAKING = "soaking"
    LIVE = "live"
    RETIRED = "retired"
    """It was live, and another one is now."""
    ROLLING_BACK = "rolling back"
    ROLLED_BACK = "rolled back"
    """It had traffic, or may have had, and the release before it has the traffic again."""
    REJECTED = "rejected"
    """It never had traffic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One version of an artifact on one target. Numbers count up on a target and are never used twice."""

    target: str
    environment: str = "dev"
    number: int
    artifact: Artifact
    stage: Stage = Stage.BUILDING
    reference: str = ""
    """What the target itself calls it (a revision, a deployment id), as soon as it says so."""
    previous: int | None = None
    """The release that was live when this one came: where a rollback goes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSpec:
    """A `[targets.NAME]` section for one environment, read and checked."""

    name: str
    kind: str
    environment: str = "dev"
    application: str = ""
    """What the target calls the whole: an app, a service, a site."""
    region: str = ""
    domain: str = ""
    command: tuple[str, ...] = ()
    """Instead of the artifact's own way to start."""
    health_path: str = "/"
    instances: tuple[int, int] = (1, 1)
    """At least and at most."""
    variables: tuple[tuple[str, str], ...] = ()
    secrets: tuple[tuple[str, str], ...] = ()
    """Variables of the application by the name of the variable here that holds the value: never the value itself."""
    port: int = 0
    start_timeout_s: float = 60.0
    soak_s: float = 30.0
    approve: bool = False
    """A person is asked before it gets traffic."""
    options: tuple[tuple[str, str], ...] = ()
    """What only this kind of target knows: a context, a resource group, a registry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """What a target says of one release. `settled` is false while it may change by itself: it starts, it is built."""

    healthy: bool
    settled: bool = True
    instances: int = 0
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretValue:
    """Stands in a call for the value of a variable, which is read when the call is made."""

    variable: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorCommand:
    """One call of a vendor's own client, which sees the user's environment."""

    argv: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    stdin: object = None
    """JSON for its standard input, or the `SecretValue` that it reads there."""
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorRequest:
    """One documented request, where a vendor has no client to be had. The token is read when it is sent."""

    method: str
    url: str
    token_from: str = ""
    """The variable that holds the token; empty for an address that a vendor has signed, which needs none."""
    token_scheme: str = "Bearer"  # noqa: S105 (the name of a scheme)
    headers: tuple[tuple[str, str], ...] = ()
    json: object = None
    """May have `SecretValue` in it."""
    body: Path | None = None
    repeatable: bool = False
    """Sent again after a failure though its method does not say that this is safe."""
    timeout_s: float = 600.0


VendorCall = VendorCommand | VendorRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class VendorReply:
    """What a call came to: exit code or status, and what it said, with secrets redacted."""

    ok: bool
    code: int
    text: str
    retry_after_s: float | None = None
    answer: object = field(default=None, repr=False)
    """What it said as JSON, as it came: to be read and never kept, for it may hold secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One value of one metric at one moment; None where somebody looked and nothing could be known."""

    metric: str
    value: float | None
    at: float
