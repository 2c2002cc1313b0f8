"""Packaging a milepost: an artifact that was built twice from a clean checkout, and has run.

For example:

    from milepost import artifacts

    packaged = artifacts.package(kind="wheel", unproven=True)
    print(packaged.artifact.path, packaged.artifact.sha256)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from milepost.api.artifacts import copy_to as copy_to
    from milepost.api.artifacts import package as package
    from milepost.api.artifacts import to_json as to_json
    from milepost.api.artifacts import write_generated as write_generated
    from milepost.core.shipping import Artifact as Artifact
    from milepost.core.shipping import ArtifactKind as ArtifactKind
    from milepost.engine.packaging.package import Packaged as Packaged
else:
    from milepost import _lazy

    __all__, __getattr__, __dir__ = _lazy(__name__, __file__)
