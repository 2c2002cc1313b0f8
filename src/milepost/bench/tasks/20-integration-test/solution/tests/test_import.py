import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent.parent / "importer.py"


def run(source, target):
    return subprocess.run([sys.executable, PROGRAM, source, target], capture_output=True, text=True)


def test_a_good_file(tmp_path):
    (tmp_path / "in").write_text("tea,2\ncoffee,10\n")
    done = run(tmp_path / "in", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((tmp_path / "out").read_text()) == [{"name": "coffee", "count": 10}, {"name": "tea", "count": 2}]


def test_a_line_without_a_number(tmp_path):
    (tmp_path / "in").write_text("tea,two\ncoffee,10\n")
    done = run(tmp_path / "in", tmp_path / "out")
    assert (done.returncode, "line 1" in done.stderr) == (0, True)
    assert json.loads((tmp_path / "out").read_text()) == [{"name": "coffee", "count": 10}]


def test_no_input(tmp_path):
    done = run(tmp_path / "in", tmp_path / "out")
    assert (done.returncode, (tmp_path / "out").exists()) == (1, False)
