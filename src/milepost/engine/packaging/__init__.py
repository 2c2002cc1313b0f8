"""From a milepost to an artifact."""

from milepost.engine.packaging.package import Packaged, build, package

__all__ = ["Packaged", "build", "package"]
