import dataclasses

import pytest
from settings import Settings, load


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "app.toml"
    file.write_text('host = "example.org"\nport = 81\n')
    return file


def test_defaults(tmp_path):
    assert load(tmp_path / "none.toml", {}) == Settings("localhost", 8000, False)


def test_the_file_goes_over_the_defaults(path):
    assert load(path, {}) == Settings("example.org", 81, False)


def test_the_environment_goes_over_the_file(path):
    given = {"APP_PORT": "82", "APP_DEBUG": "Yes", "PORT": "1"}
    assert load(path, given) == Settings("example.org", 82, True)


@pytest.mark.parametrize(("text", "debug"), [("1", True), ("TRUE", True), ("0", False), ("no", False), ("", False)])
def test_debug(tmp_path, text, debug):
    assert load(tmp_path / "none", {"APP_DEBUG": text}).debug is debug


def test_unknown_keys_are_named(path):
    path.write_text("prot = 81\n")
    with pytest.raises(ValueError, match="prot"):
        load(path, {})


def test_settings_are_frozen(path):
    with pytest.raises(dataclasses.FrozenInstanceError):
        load(path, {}).port = 1
