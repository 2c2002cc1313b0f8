"""An interpreter with pytest and nothing else, as a small project has it: no plugin is loaded that no test needs."""

from __future__ import annotations

import atexit
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from zipfile import ZipFile

_NAME = re.compile(r"[\w.-]+")


@cache
def python() -> Path:
    """Its path; nobody writes to it, and it is gone when the tests are over."""
    above = Path(tempfile.mkdtemp(prefix="milepost-lean-"))
    atexit.register(shutil.rmtree, above, ignore_errors=True)
    folder = above / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    for each in _with_what_it_needs("pytest"):
        for name, source in _files(each):
            (packages / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, packages / name)  # with its time, which its bytecode names
    return folder / "bin" / "python"


def wheels(folder: Path) -> None:
    """Put pytest and what it needs into a folder as wheels, made of what is installed here."""
    for each in _with_what_it_needs("pytest"):
        with ZipFile(folder / f"{each.name.replace('-', '_')}-{each.version}-py3-none-any.whl", "w") as wheel:
            for name, source in _files(each):
                if source.suffix != ".pyc":
                    wheel.write(source, name)


def _files(of: Distribution) -> Iterator[tuple[str, Path]]:
    """Their names below site-packages, and where they are; programs are elsewhere."""
    for file in of.files or ():
        source = Path(str(of.locate_file(file)))
        if ".." not in file.parts and source.is_file():
            yield file.as_posix(), source


def _with_what_it_needs(name: str) -> list[Distribution]:
    found, todo = {}, [name]
    while todo:
        wanted = todo.pop()
        try:
            found[wanted] = distribution(wanted)
        except PackageNotFoundError:  # for another platform or version of Python
            continue
        needs = [need for need in found[wanted].requires or () if "extra ==" not in need]
        names = [match[0] for need in needs if (match := _NAME.match(need))]
        todo += [each for each in names if each not in found]
    return list(found.values())
