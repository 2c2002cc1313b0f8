import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MUTANTS = {
    "numbers stay text": ('int(count)}', 'count.strip()}'),
    "unsorted": ('rows.sort(key=lambda row: row["name"])', "pass"),
    "bad lines stop it": ("            continue\n", "            return 0\n"),
    "bad lines are kept": ("            continue\n", '            count = "0"\n'),
    "silent": ('            print(f"line {number}: no number", file=sys.stderr)\n', ""),
    "missing input is fine": ("        return 1\n", "        return 0\n"),
    "missing input writes": ("        return 1\n", '        Path(target).write_text("")\n        return 1\n'),
}


def run(result, place, change=None):
    (place / "tests").mkdir()
    shutil.copy(Path(result) / "tests/test_import.py", place / "tests")
    for extra in (Path(result) / "tests").glob("conftest.py"):
        shutil.copy(extra, place / "tests")
    source = (Path(__file__).parent / "importer.txt").read_text()
    if change:
        assert change[0] in source
        source = source.replace(*change)
    (place / "importer.py").write_text(source)
    argv = [sys.executable, "-m", "pytest", "-q", "tests/test_import.py"]
    return subprocess.run(argv, cwd=place, capture_output=True, text=True)


def test_it_passes(result, tmp_path):
    assert run(result, tmp_path).returncode == 0


@pytest.mark.parametrize("name", MUTANTS)
def test_it_notices(result, tmp_path, name):
    assert run(result, tmp_path, MUTANTS[name]).returncode == 1


def test_the_importer_stays(result):
    assert (Path(result) / "importer.py").read_text() == (Path(__file__).parent / "importer.txt").read_text()
