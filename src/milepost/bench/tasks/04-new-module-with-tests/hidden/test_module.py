import subprocess
import sys
from pathlib import Path

import pytest
from ring import RingBuffer

MUTANTS = {
    "never forgets": "class RingBuffer(R):\n    def push(self, item):\n        self.__dict__.setdefault('all', []).append(item)\n"
    "    def __iter__(self):\n        return iter(self.__dict__.get('all', []))\n",
    "newest first": "class RingBuffer(R):\n    def __iter__(self):\n        return iter(list(super().__iter__())[::-1])\n",
    "takes any size": "class RingBuffer(R):\n    def __init__(self, size):\n        super().__init__(max(1, size))\n",
}


def test_it_is_a_ring():
    ring = RingBuffer(2)
    assert (len(ring), ring.full, list(ring)) == (0, False, [])
    for item in (1, 2, 3, 4, 5):
        ring.push(item)
    assert (len(ring), ring.full, list(ring)) == (2, True, [4, 5])


@pytest.mark.parametrize("size", [0, -3])
def test_sizes_below_one_are_refused(size):
    with pytest.raises(ValueError):
        RingBuffer(size)


@pytest.mark.parametrize("name", MUTANTS)
def test_its_tests_notice(result, tmp_path, name):
    source = (Path(result) / "ring.py").read_text()
    (tmp_path / "honest_ring.py").write_text(source)
    (tmp_path / "ring.py").write_text("from honest_ring import RingBuffer as R\n\n\n" + MUTANTS[name])
    (tmp_path / "test_ring.py").write_text((Path(result) / "tests/test_ring.py").read_text())
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "test_ring.py"], cwd=tmp_path, capture_output=True)
    assert done.returncode == 1, done.stdout.decode()
