import pytest
from atomic import writing


def test_the_old_text_is_there_until_the_end(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with writing(path) as file:
        file.write("new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_nothing_is_left_behind(tmp_path, error):
    with pytest.raises(error), writing(tmp_path / "a.txt") as file:
        file.write("new")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_the_mode_is_kept(tmp_path):
    path = tmp_path / "a.sh"
    path.write_text("old")
    path.chmod(0o750)
    with writing(path) as file:
        file.write("new")
    assert path.stat().st_mode & 0o7777 == 0o750


def test_text_is_utf8(tmp_path):
    with writing(str(tmp_path / "a.txt")) as file:
        file.write("ü")
    assert (tmp_path / "a.txt").read_bytes() == "ü".encode()
