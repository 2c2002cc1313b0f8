"""The kinds of artifact, a module each."""

from __future__ import annotations

from milepost.core.errors import NothingToPackage
from milepost.core.shipping import ArtifactKind
from milepost.ship.builders.image import ImageKind
from milepost.ship.builders.npm import NpmKind
from milepost.ship.builders.rust import RustKind
from milepost.ship.builders.static import StaticKind
from milepost.ship.builders.wheel import WheelKind
from milepost.ship.recipe import Kind


def kind_of(kind: ArtifactKind) -> Kind:
    """Who knows how artifacts of a kind are built."""
    match kind:
        case ArtifactKind.WHEEL:
            return WheelKind()
        case ArtifactKind.STATIC:
            return StaticKind()
        case ArtifactKind.NPM:
            return NpmKind()
        case ArtifactKind.RUST:
            return RustKind()
        case ArtifactKind.IMAGE:
            return ImageKind()
        case ArtifactKind.TREE:
            raise NothingToPackage("the files of a commit need no building", "deploy them: milepost deploy")
