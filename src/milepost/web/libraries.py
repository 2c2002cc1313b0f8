"""The libraries that the page is written with: fetched by name, held to their hashes, laid out for a browser.

    python -P src/milepost/web/libraries.py

puts them into static/vendor/, with licences, unless they are there; `milepost web --fetch-libraries` does so where
Milepost is installed. The hashes are those in package-lock.json, which npm checks. Standard library only: it runs
before anything is installed, and while a wheel is built.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
VENDOR: Final = HERE / "static" / "vendor"
MANIFEST: Final = "manifest.json"
LONGEST_S: Final = 300
COMMAND: Final = "milepost web --fetch-libraries (needs npm)"

# What each module is called in vendor/, by the name under which the others import it; where npm puts it.
MODULES: Final = {
    "preact": ("preact.js", "preact/dist/preact.mjs"),
    "preact/hooks": ("hooks.js", "preact/hooks/dist/hooks.mjs"),
    "@preact/signals-core": ("signals-core.js", "@preact/signals-core/dist/signals-core.mjs"),
    "@preact/signals": ("signals.js", "@preact/signals/dist/signals.mjs"),
    "htm": ("htm.js", "htm/dist/htm.mjs"),
}
_IMPORTED: Final = re.compile(r"""(\b(?:from|import)\s*)(["'])([^"']+)\2""")
_MAP: Final = re.compile(r"\n?//# sourceMappingURL=\S*\s*\Z")
_UNREACHABLE: Final = ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENETUNREACH")


class NotFetched(Exception):
    """Why the libraries could not be had, in one line."""


def missing(vendor: Path = VENDOR) -> str:
    """What the page lacks and which command gets it, in one line; nothing when all is there as it was fetched."""
    try:
        manifest = json.loads((vendor / MANIFEST).read_text())
        fetched, files = dict(manifest["libraries"]), dict(manifest["files"])
        same = all(_digest((vendor / name).read_bytes()) == digest for name, digest in files.items())
    except (OSError, ValueError, KeyError, TypeError):
        return f"this installation has no libraries for the page: {COMMAND}"
    if not same or set(files) != _names() or fetched != versions():
        return f"this installation has libraries for the page of another version: {COMMAND}"
    return ""


def versions(lock: Path = HERE / "package-lock.json") -> dict[str, str]:
    """The libraries and their versions, as they are locked."""
    packages = json.loads(lock.read_text())["packages"]
    return {name.removeprefix("node_modules/"): package["version"] for name, package in packages.items() if name}


def fetch(vendor: Path = VENDOR, longest_s: int = LONGEST_S) -> None:
    """Put the libraries into a folder."""
    with installed(HERE, longest_s) as packages:
        files = laid_out(packages)
    keep(files, vendor)


def laid_out(packages: Path) -> dict[str, bytes]:
    """The files of vendor/ by name, from what npm installed: modules that name each other by address, and licences."""
    files = {}
    for specifier, (name, path) in MODULES.items():
        module = for_browsers(specifier, (packages / path).read_text(encoding="utf-8"))
        files[name] = module.encode()
    for package in versions():
        files[_licence(package)] = (packages / package / "LICENSE").read_bytes()
    return files


def for_browsers(specifier: str, source: str) -> str:
    """A module as a browser reads it without an import map (an inline script), with a note of what was changed."""
    package = next(name for name in versions() if f"{specifier}/".startswith(f"{name}/"))
    notice = f"/* {specifier}, of {package} {versions()[package]}: see {_licence(package)}."
    addressed = _IMPORTED.sub(lambda found: f'{found[1]}"./{_neighbour(specifier, found[3])}"', source)
    return f"{notice} Changed: addresses of imports, no source map. */\n{_MAP.sub('', addressed)}\n"


def keep(files: dict[str, bytes], vendor: Path) -> None:
    """Write the files of vendor/, and have no others there; the manifest, written last, says that it is all of them."""
    vendor.mkdir(parents=True, exist_ok=True)
    for path in vendor.rglob("*"):
        if path.is_file() and path.relative_to(vendor).as_posix() not in files:
            path.unlink(missing_ok=True)
    for name, content in files.items():
        (vendor / name).parent.mkdir(exist_ok=True)
        (vendor / name).write_bytes(content)
    digests = {name: _digest(content) for name, content in files.items()}
    (vendor / MANIFEST).write_text(json.dumps({"libraries": versions(), "files": digests}, indent=2) + "\n")


@contextmanager
def installed(lock: Path, longest_s: int = LONGEST_S) -> Iterator[Path]:
    """The packages of a folder's package-lock.json, in a folder that is gone afterwards; no code of theirs is run."""
    with tempfile.TemporaryDirectory(prefix="milepost-npm-") as folder:
        for name in ("package.json", "package-lock.json"):
            shutil.copyfile(lock / name, Path(folder) / name)
        _npm(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], Path(folder), longest_s)
        yield Path(folder) / "node_modules"


def _npm(words: list[str], folder: Path, longest_s: int) -> None:
    try:
        ended = subprocess.run(
            ["npm", *words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=longest_s,
            check=False,
        )
    except FileNotFoundError:
        raise NotFetched("there is no npm on this machine; on Debian: apt-get install npm") from None
    except subprocess.TimeoutExpired:
        raise NotFetched(f"npm took longer than {longest_s} s") from None
    if ended.returncode == 0:
        return
    if any(sign in ended.stderr for sign in _UNREACHABLE):
        raise NotFetched("the registry of npm cannot be reached from here")
    said = [line.strip() for line in ended.stderr.splitlines() if line.strip()]
    raise NotFetched(f"npm ended with {ended.returncode}: {' · '.join(said[:3])}")


def _neighbour(importer: str, specifier: str) -> str:
    if specifier not in MODULES:
        raise NotFetched(f"{importer} imports {specifier!r}, which is none of {', '.join(MODULES)}")
    return MODULES[specifier][0]


def _names() -> set[str]:
    return {name for name, _ in MODULES.values()} | {_licence(package) for package in versions()}


def _licence(package: str) -> str:
    return f"LICENSES/{package.removeprefix('@').replace('/', '-')}.txt"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main() -> int:
    if not missing():
        return 0
    try:
        fetch()
    except (NotFetched, OSError) as error:
        sys.stderr.write(f"the libraries of the page are not fetched: {error}\n")
        return 1
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    sys.stdout.write(f"fetched for the page: {named}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
