"""An image on its way to a registry, by skopeo: it takes the layout as it is, and the user is signed in with it."""

from __future__ import annotations

from milepost.core.errors import SettingInvalid
from milepost.core.shipping import Release, TargetSpec, VendorCommand

DEFAULT_PORT = 8080
REGISTRY = "where images are pushed, and pulled from: a registry and a folder in it"


def image_name(spec: TargetSpec) -> str:
    registry = dict(spec.options).get("registry", "").strip("/")
    if not registry:
        raise SettingInvalid(
            f"target {spec.name!r} takes images and names no registry",
            f"set `registry` under [targets.{spec.name}.options]",
        )
    return f"{registry}/{spec.application}"


def image_digest(release: Release) -> str:
    return f"sha256:{release.artifact.sha256.removeprefix('sha256:')}"


def image_reference(spec: TargetSpec, release: Release) -> str:
    """The image by its digest: no tag can be moved under it."""
    return f"{image_name(spec)}@{image_digest(release)}"


def push_image(spec: TargetSpec, release: Release) -> VendorCommand:
    """Copies what the registry does not have yet, and keeps the digest."""
    tag = f"r{release.number}-{release.artifact.sha256.removeprefix('sha256:')[:10]}"
    return VendorCommand(
        argv=(
            *("skopeo", "copy", "--quiet", "--preserve-digests"),
            *(f"oci:{release.artifact.path}", f"docker://{image_name(spec)}:{tag}"),
        )
    )
