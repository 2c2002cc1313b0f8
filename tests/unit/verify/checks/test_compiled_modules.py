from __future__ import annotations

from pathlib import Path

import pytest

from milepost.core.attempt import Workspace
from milepost.core.change import Change, ChangedFile
from milepost.verify.checks.compiled_modules import CompiledModulesCheck


@pytest.mark.parametrize(
    ("changed", "built", "outcome"),
    [
        ("src/shop/_speed.c", "src/shop/_speed.abi3.so", "held"),
        ("src/shop/_speed.pyx", "src/shop/_speed.cpython-311-x86_64-linux-gnu.so", "held"),
        ("src/shop/sums.py", "src/shop/_speed.abi3.so", "absent"),
        ("src/shop/_speed.c", "src/shop/libspeed.so", "absent"),
        ("tests/helper.c", "src/shop/_speed.abi3.so", "absent"),
    ],
)
def test_a_person_is_asked_where_a_module_is_older_than_its_source(
    tmp_path: Path, changed: str, built: str, outcome: str
) -> None:
    (tmp_path / built).parent.mkdir(parents=True)
    (tmp_path / built).write_bytes(b"")
    change = Change(files=(ChangedFile(path=changed, before=b"1\n", after=b"2\n"),))

    found = CompiledModulesCheck(change=change).run(Workspace(folder=tmp_path, scratch=tmp_path, base="0" * 40))

    assert (found.outcome, len(found.questions)) == (outcome, outcome == "held")
