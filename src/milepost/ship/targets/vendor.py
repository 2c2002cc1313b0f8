"""What a vendor's module says, and the target that its words make.

A module is pure. Each of its functions yields calls, is sent their replies, and returns what came of it; nothing in it
runs anything, so a test plays the vendor.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, TypeVar

from milepost.core.errors import ArtifactUnfit, TargetRefused
from milepost.core.shipping import ArtifactKind, Health, Release, TargetSpec, VendorCommand, VendorReply, VendorRequest
from milepost.ship.targets.pack import Pack, Packing, packed
from milepost.ship.vendor_shell import VendorShell

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    seconds: float


Step = VendorCommand | VendorRequest | Pause
Steps = Generator[Step, VendorReply, T]
ABSENT = Health(healthy=False, detail="it is not deployed")
_PAUSED = VendorReply(ok=True, code=0, text="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a vendor takes, and the options that it knows, with what they mean; those `required` must be given."""

    takes: frozenset[ArtifactKind]
    options: Mapping[str, str]
    required: tuple[str, ...] = ()
    packing: Packing = "nothing"
    name_is_label: bool = False
    """The application's name becomes a part of names that have no dots and at most 63 signs."""
    at_once: bool = False
    """What is deployed has the traffic as soon as the vendor finds it well: it knows no other way."""


class Vendor(Protocol):
    """A module of this package. Every function may be called twice for one release, and looks before it makes."""

    FACTS: Facts

    def deploy(self, spec: TargetSpec, release: Release, pack: Pack, /) -> Steps[str]: ...
    def health(self, spec: TargetSpec, release: Release) -> Steps[Health]: ...
    def switch(self, spec: TargetSpec, release: Release) -> Steps[None]: ...
    def retire(self, spec: TargetSpec, release: Release) -> Steps[None]: ...
    def scale(self, spec: TargetSpec, instances: int) -> Steps[None]: ...
    def restart(self, spec: TargetSpec) -> Steps[None]: ...
    def logs(self, spec: TargetSpec, release: Release, lines: int) -> Steps[str]: ...


class VendorTarget:
    """A target and its controls: the words of a vendor's module, and the shell that acts on them."""

    def __init__(self, vendor: Vendor, spec: TargetSpec, shell: VendorShell, folder: Path) -> None:
        self._vendor = vendor
        self._spec = spec
        self._shell = shell
        self._folder = folder

    @property
    def at_once(self) -> bool:
        return self._vendor.FACTS.at_once

    def deploy(self, release: Release) -> str:
        fits(self._vendor, self._spec, release)
        pack = packed(self._vendor.FACTS.packing, self._spec, release, self._folder)
        try:
            return self._shell.redact(self._follow(self._vendor.deploy(self._spec, release, pack)))
        finally:
            if pack.made is not None:
                pack.made.unlink(missing_ok=True)

    def health(self, release: Release) -> Health:
        health = self._follow(self._vendor.health(self._spec, release))
        return replace(health, detail=self._shell.redact(health.detail))

    def switch(self, release: Release) -> None:
        self._follow(self._vendor.switch(self._spec, release))

    def retire(self, release: Release) -> None:
        self._follow(self._vendor.retire(self._spec, release))

    def scale(self, instances: int) -> None:
        self._follow(self._vendor.scale(self._spec, instances))

    def restart(self) -> None:
        self._follow(self._vendor.restart(self._spec))

    def logs(self, release: Release, lines: int) -> str:
        return self._shell.redact(self._follow(self._vendor.logs(self._spec, release, lines)))

    def _follow(self, steps: Steps[T]) -> T:
        try:
            step = next(steps)
            while True:
                match step:
                    case Pause(seconds=seconds):
                        self._shell.pause(seconds)
                        reply = _PAUSED
                    case call:
                        reply = self._shell(call)
                step = steps.send(reply)
        except StopIteration as end:
            came: T = end.value
            return came
        except TargetRefused as refused:
            raise TargetRefused(self._shell.redact(refused.message), refused.advice) from None


def fits(vendor: Vendor, spec: TargetSpec, release: Release) -> None:
    """Refuse an artifact that the target cannot run, in a line that says what it takes."""
    artifact = release.artifact
    if artifact.kind not in vendor.FACTS.takes:
        takes = " or ".join(sorted(vendor.FACTS.takes))
        raise ArtifactUnfit(
            f"{spec.kind} takes {takes}, and {artifact.name} {artifact.version} is {artifact.kind}",
            f"package it as {takes} (milepost package --as), or name another target",
        )
    if artifact.kind is ArtifactKind.STATIC and (spec.variables or spec.secrets):
        raise ArtifactUnfit(
            f"nothing of a static site reads variables, and target {spec.name!r} sets some",
            "remove `variables` and `secrets` from it",
        )


def gone(spec: TargetSpec, release: Release) -> TargetRefused:
    """What is raised where a release is to be switched to that the vendor does not have."""
    return TargetRefused(f"release {release.number} is not on {spec.name!r} any more", "deploy it again")


def label(release: Release) -> str:
    """What a target is told a release is called: by it one that is there already is found again.

    The digest is in it, for numbers begin anew where nobody knows the old ones.
    """
    return f"r{release.number}-{release.artifact.sha256.removeprefix('sha256:')[:10]}"


def option(spec: TargetSpec, name: str, otherwise: str = "") -> str:
    return dict(spec.options).get(name) or otherwise
