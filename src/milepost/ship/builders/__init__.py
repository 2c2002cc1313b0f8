"""The kinds of artifact, a module each."""

from __future__ import annotations

from milepost.core.errors import NothingToPackage
from milepost.core.shipping import ArtifactKind
from milepost.ship.builders.wheel import WheelKind
from milepost.ship.recipe import Kind


def kind_of(kind: ArtifactKind) -> Kind:
    """Who knows how artifacts of a kind are built."""
    match kind:
        case ArtifactKind.WHEEL:
            return WheelKind()
        case _:
            raise NothingToPackage(f"{kind} cannot be built yet", "")
