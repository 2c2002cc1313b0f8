import pytest

from notebook import load, save


@pytest.fixture
def path(tmp_path):
    return tmp_path / "notes.json"


def test_what_is_saved_is_loaded(path):
    save(path, {"milk": 2})
    assert load(path) == {"milk": 2}


def test_the_old_notebook_survives_notes_that_cannot_be_written(path):
    save(path, {"milk": 2})
    with pytest.raises(TypeError):
        save(path, {"milk": object()})
    assert load(path) == {"milk": 2}


def test_nothing_is_left_beside_the_notebook(path):
    with pytest.raises(TypeError):
        save(path, {"milk": object()})
    assert list(path.parent.iterdir()) == []


def test_no_notebook_is_an_empty_one(path):
    assert load(path) == {}
