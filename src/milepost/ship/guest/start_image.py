"""Unpacks the layers of an image and starts its command from them. Runs in the sandbox, and in place of no root.

Arguments: the layout, the folder to unpack into, arguments of the command. A program that needs libraries gets those of
its image by the image's own loader; absolute paths among its variables and arguments lead into the unpacked layers.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tarfile
from typing import Any, cast

LIBRARIES = ("lib64", "lib", "usr/lib64", "usr/lib", "usr/local/lib")
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def blob(layout: str, described: dict[str, Any]) -> str:
    return os.path.join(layout, "blobs", *described["digest"].split(":"))


def load(file: str) -> dict[str, Any]:
    with open(file, encoding="utf-8") as stream:
        return cast(dict[str, Any], json.load(stream))


def remove(place: str) -> None:
    if os.path.isdir(place) and not os.path.islink(place):
        shutil.rmtree(place)
    elif os.path.lexists(place):
        os.remove(place)


def unpack(file: str, root: str) -> None:
    with tarfile.open(file) as archive:
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        for member in archive:
            name = member.name.removeprefix("./").strip("/")
            above, last = os.path.split(name)
            place = os.path.join(root, name)
            if last == ".wh..wh..opq":
                shutil.rmtree(os.path.join(root, above), ignore_errors=True)
            elif last.startswith(".wh."):
                remove(os.path.join(root, above, last[4:]))
            elif member.isdir() or member.isreg() or member.issym() or member.islnk():
                if not member.isdir():
                    remove(place)
                member.uid, member.gid = os.getuid(), os.getgid()
                archive.extract(member, root, set_attrs=not member.issym())
                if member.isdir():
                    os.chmod(place, 0o755)


def resolve(root: str, path: str) -> str:
    """Where a path of the image is in the folder, its links followed as in the image."""
    parts, found, hops = path.strip("/").split("/"), "", 0
    while parts:
        part = parts.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            found = os.path.dirname(found)
            continue
        place = os.path.join(root, found, part)
        if os.path.islink(place) and hops < 40:
            hops += 1
            to = os.readlink(place)
            if to.startswith("/"):
                found = ""
            parts = to.strip("/").split("/") + parts
        else:
            found = os.path.join(found, part)
    return os.path.join(root, found)


def loader_of(program: str) -> str:
    """The loader that an ELF program names; empty for one that needs none."""
    with open(program, "rb") as stream:
        head = stream.read(64)
        if head[:5] != b"\x7fELF\x02":
            return ""
        start, size, count = (int.from_bytes(head[a:b], "little") for a, b in ((32, 40), (54, 56), (56, 58)))
        for number in range(count):
            stream.seek(start + number * size)
            header = stream.read(size)
            if int.from_bytes(header[:4], "little") == 3:
                stream.seek(int.from_bytes(header[8:16], "little"))
                return stream.read(int.from_bytes(header[32:40], "little")).rstrip(b"\0").decode()
    return ""


def main() -> None:
    layout, root, *words = sys.argv[1:]
    manifest = load(blob(layout, load(os.path.join(layout, "index.json"))["manifests"][0]))
    os.mkdir(root)
    for one in manifest["layers"]:
        unpack(blob(layout, one), root)
    settings = load(blob(layout, manifest["config"]))["config"]
    env = dict(line.partition("=")[::2] for line in settings.get("Env") or ())
    argv = [*(settings.get("Entrypoint") or ()), *(words or settings.get("Cmd") or ())]
    places = [""] if "/" in argv[0] else env.get("PATH", DEFAULT_PATH).split(":")
    programs = (resolve(root, f"{place}/{argv[0]}") for place in places)
    program = next((path for path in programs if os.access(path, os.X_OK)), "")
    if not program:
        sys.exit(f"the image has no program {argv[0]!r}")
    with open(program, "rb") as stream:
        script = stream.readline(200)
    if script.startswith(b"#!"):
        interpreter, *options = script[2:].decode().split()
        argv, program = [interpreter, *options, program, *argv[1:]], resolve(root, interpreter)
    inside = [
        resolve(root, word) if word.startswith("/") and os.path.exists(resolve(root, word)) else word for word in argv
    ]
    loader = loader_of(program)
    if loader:
        found = [os.path.join(root, name) for name in LIBRARIES if os.path.isdir(os.path.join(root, name))]
        machine = [os.path.join(name, f"{os.uname().machine}-linux-gnu") for name in found]
        options = ["--inhibit-cache", "--library-path", ":".join([*machine, *found]), "--argv0", argv[0]]
        inside = [resolve(root, loader), *options, program, *inside[1:]]
    else:
        inside[0] = program
    own = {
        name: ":".join(resolve(root, part) if part.startswith("/") else part for part in value.split(":"))
        for name, value in env.items()
    }
    if os.path.basename(program).startswith("python"):
        own["PYTHONHOME"] = os.path.dirname(os.path.dirname(program))
    folder = resolve(root, settings.get("WorkingDir") or "/")
    os.chdir(folder)
    os.execve(inside[0], inside, {**os.environ, **own})  # noqa: S606 (it is what this is for)


main()
