import json

import pytest

import config


def written(tmp_path, text):
    path = tmp_path / "server.json"
    path.write_text(text)
    return path


def test_a_good_one_is_read(tmp_path):
    assert config.load(written(tmp_path, '{"name": "a"}')) == {"name": "a", "port": 80}


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(config.ConfigError, match="gone.json"):
        config.load(tmp_path / "gone.json")


@pytest.mark.parametrize("port", [0, 70000, "many"])
def test_an_impossible_port_is_told(tmp_path, port):
    with pytest.raises(config.ConfigError, match="port"):
        config.load(written(tmp_path, json.dumps({"name": "a", "port": port})))
