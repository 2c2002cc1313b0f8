import json

import pytest
from config import ConfigError, load


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", ""),
        ("[]", ""),
        ("3", ""),
        ("{}", "name"),
        ('{"name": ""}', "name"),
        ('{"name": "a", "port": 65536}', "port"),
        ('{"name": "a", "port": -1}', "port"),
        ('{"name": "a", "port": "x"}', "port"),
        ('{"name": "a", "port": null}', "port"),
    ],
)
def test_each_problem_is_told(tmp_path, text, said):
    path = tmp_path / "server.json"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert "server.json" in str(caught.value) and said in str(caught.value)


def test_the_cause_is_kept(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / "gone.json")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


@pytest.mark.parametrize("port", [1, 65535])
def test_the_outermost_ports_are_fine(tmp_path, port):
    path = tmp_path / "server.json"
    path.write_text(json.dumps({"name": "a", "port": port, "more": [1]}))
    assert load(path) == {"name": "a", "port": port, "more": [1]}
