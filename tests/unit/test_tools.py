"""A program that tests need must work: to be on PATH is not enough."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools import absence, need, works

SHIM = "#!/bin/sh\necho 'error: no default toolchain is configured' >&2\nexit 1\n"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    for name, text in {
        "works": '#!/bin/sh\ntest "$1" = --version\n',
        "shim": SHIM,
        "silent": "#!/bin/sh\nexit 3\n",
        "headless": "no interpreter\0\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("works", ""),
        ("shim", "does not work here: error: no default toolchain is configured"),
        ("silent", "does not work here: exit 3"),
        ("headless", "does not work here: [Errno 8]"),
        ("nothing", "is not installed"),
    ],
)
def test_the_reason_names_the_program_and_what_it_said(programs: Path, program: str, why: str) -> None:
    path = str(programs / program)
    assert absence(path).startswith(f"{path} {why}" if why else "")
    assert works(path) == (program == "works") == (not absence(path))


def test_who_needs_a_program_that_does_not_work_is_skipped(programs: Path) -> None:
    need(str(programs / "works"))
    with pytest.raises(pytest.skip.Exception, match="no default toolchain"):
        need(str(programs / "works"), str(programs / "shim"))
