import pytest
from atomic import writing


def test_what_is_written_is_there(tmp_path):
    path = tmp_path / "a.txt"
    with writing(path) as file:
        file.write("hello")
    assert path.read_text() == "hello"


def test_a_block_that_raises_changes_nothing(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(RuntimeError), writing(path) as file:
        file.write("new")
        raise RuntimeError
    assert path.read_text() == "old"
