"""Targets other than this machine: what each vendor is asked, as data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from milepost.core.errors import SettingInvalid
from milepost.core.shipping import TargetSpec
from milepost.ship.targets import aws, azure, digitalocean, gcp, heroku, kubernetes, netlify, vercel
from milepost.ship.targets.vendor import Vendor, VendorTarget
from milepost.ship.vendor_shell import VendorShell

VENDORS: Mapping[str, Vendor] = {
    "kubernetes": kubernetes,
    "aws": aws,
    "gcp": gcp,
    "azure": azure,
    "heroku": heroku,
    "digitalocean": digitalocean,
    "vercel": vercel,
    "netlify": netlify,
}
_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?")
_LABEL = re.compile(r"[a-z]([-a-z0-9]{0,38}[a-z0-9])?")
_DOMAIN = re.compile(r"(?i)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPTION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")


def open_target(
    spec: TargetSpec, folder: Path, environ: Mapping[str, str], *, shell: VendorShell | None = None
) -> VendorTarget:
    """The target of a section that was read. `folder` is for what is handed over, and holds nothing between calls."""
    vendor = VENDORS.get(spec.kind)
    if vendor is None:
        raise SettingInvalid(f"there is no kind of target {spec.kind!r}", f"one of: {', '.join(VENDORS)}")
    for amiss in problems(vendor, spec):
        raise SettingInvalid(f"target {spec.name!r}: {amiss}", f"change it under [targets.{spec.name}]")
    folder.mkdir(parents=True, exist_ok=True)
    return VendorTarget(vendor, spec, shell or VendorShell(environ, folder), folder)


def problems(vendor: Vendor, spec: TargetSpec) -> list[str]:
    """What of a spec cannot be used. Whatever becomes a word of a command or a part of an address is looked at."""
    options = dict(spec.options)
    shape = _LABEL if vendor.FACTS.name_is_label else _NAME
    least, most = spec.instances
    found = [
        ("" if shape.fullmatch(spec.application) else f"`application` cannot be {spec.application!r}"),
        ("" if not spec.region or _NAME.fullmatch(spec.region.lower()) else f"`region` cannot be {spec.region!r}"),
        ("" if _NAME.fullmatch(spec.environment) else f"`environment` cannot be {spec.environment!r}"),
        ("" if not spec.domain or _DOMAIN.fullmatch(spec.domain) else f"`domain` cannot be {spec.domain!r}"),
        ("" if re.fullmatch(r"/[!-~]*", spec.health_path) else f"`health_path` cannot be {spec.health_path!r}"),
        ("" if 1 <= least <= most else f"`instances` cannot be from {least} to {most}"),
        *(
            f"{name!r} is no name of a variable"
            for pair in (*((name, name) for name, _ in spec.variables), *spec.secrets)
            for name in dict.fromkeys(pair)
            if not _VARIABLE.fullmatch(name)
        ),
        *(
            f"there is no option `{name}`, only {', '.join(vendor.FACTS.options)}"
            for name in options
            if name not in vendor.FACTS.options
        ),
        *(f"option `{name}` cannot be {value!r}" for name, value in options.items() if not _OPTION.fullmatch(value)),
        *(
            f"`{name}` is needed"
            for name in vendor.FACTS.required
            if not (options.get(name) or getattr(spec, name, ""))
        ),
    ]
    return [each for each in found if each]
