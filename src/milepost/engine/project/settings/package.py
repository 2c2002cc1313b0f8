"""The section [package]: how an artifact is built, tried and signed."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from milepost.engine.project.settings.reach import SAFE, Asks, is_below
from milepost.engine.project.settings.section import SettingsSection


class PackageSettings(SettingsSection):
    kind: Annotated[Literal["", "wheel", "npm", "static", "rust", "image"], SAFE] = Field(
        "", description="What to build: wheel, npm, static, rust or image. Empty: what the project's files say."
    )
    command: Annotated[list[str], Asks("starts this command, outside of the sandbox, where it is deployed")] = Field(
        [], description="How the artifact is started, such as ['app', 'serve']. Empty: the program that it installs."
    )
    trial: Annotated[list[str], SAFE] = Field(
        [], description="Arguments that the built program is tried with, in the sandbox. Empty: --help."
    )
    base: Annotated[str, Asks("builds images on this file or folder", unless=is_below)] = Field(
        "",
        description="What an image stands on: an OCI layout, an archive of one, or a tar with the files of a root. "
        "Empty: nothing, which is enough for a Rust program.",
    )
    sign: Annotated[Literal["", "ssh", "cosign"], Asks("signs packages with your key")] = Field(
        "", description="Sign packages with ssh-keygen or cosign. Empty: packages are not signed."
    )
    key: Annotated[str, Asks("signs packages with this key")] = Field(
        "", description="The private key to sign with, such as ~/.ssh/id_ed25519."
    )
