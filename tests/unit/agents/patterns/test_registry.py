"""How patterns are found, those of users among them, and how templates are filled."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from milepost.agents.patterns.agent import execute
from milepost.agents.patterns.inputs import schema_problems
from milepost.agents.patterns.matching import matching
from milepost.agents.patterns.pending_changes import PendingChanges
from milepost.agents.patterns.registry import PatternSetup, known_patterns, pattern_named
from milepost.agents.patterns.template import filled
from milepost.core.errors import AgentUnknown, PatternInputsInvalid, SettingInvalid

SCHEMA = {
    "type": "object",
    "description": "Start a feature.",
    "properties": {
        "name": {"type": "string", "pattern": "^[a-z_ ]+$"},
        "size": {"type": "integer", "default": 3, "maximum": 9},
        "tags": {"type": "array", "default": []},
    },
    "required": ["name"],
}


def make(folder: Path, name: str = "feature", schema: Any = SCHEMA, **templates: str) -> Path:
    place = folder / ".milepost/patterns" / name
    for path, content in templates.items() or {"{{ name }}.txt": "{{ name }}\n"}.items():
        (place / "templates" / path).parent.mkdir(parents=True, exist_ok=True)
        (place / "templates" / path).write_text(content)
    (place / "schema.json").write_text(schema if isinstance(schema, str) else json.dumps(schema))
    return place


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ name }}", "stop watch"),
        ("{{name|snake}} {{ name | kebab }}", "stop_watch stop-watch"),
        ("{{ name | camel }} {{ name | pascal }} {{ name | title }}", "stopWatch StopWatch Stop Watch"),
        ("{{ name | upper }} {{ name | json }} {{ size }} {{ tags }}", 'STOP WATCH "stop watch" 3 a, b'),
        ("{{ tags | json }} {{ loud }} { name } {{{ size }}}", '["a", "b"] true { name } {3}'),
        ('${{ "{{" }} github.ref }}', "${{ github.ref }}"),
    ],
)
def test_values_are_put_into_their_places(template: str, text: str) -> None:
    values = {"name": "stop watch", "size": 3, "tags": ["a", "b"], "loud": True}

    assert filled(template, values) == text


def test_a_value_is_never_read_as_a_template_itself() -> None:
    assert filled("{{ a }}{{ b }}", {"a": "{{ b", "b": " }}"}) == "{{ b }}"


def test_a_folder_with_a_schema_and_templates_is_a_pattern(tmp_path: Path) -> None:
    place = make(
        tmp_path,
        **{"src/{{ name | snake }}.py": "# {{ name }}\nSIZE = {{ size }}\n", "src/all.txt": "{{ tags | json }}\n"},
    )
    (place / "templates/logo.bin").write_bytes(b"\xff{{ name }}")
    work = tmp_path / "work"
    work.mkdir()

    site = PendingChanges(work)
    execute(pattern_named("feature", tmp_path), {"name": "stop watch", "tags": "x, y"}, site)

    assert sorted(site.written) == ["logo.bin", "src/all.txt", "src/stop_watch.py"]
    assert (work / "src/stop_watch.py").read_text() == "# stop watch\nSIZE = 3\n"
    assert (work / "src/all.txt").read_text() == '["x", "y"]\n'
    assert (work / "logo.bin").read_bytes() == b"\xff{{ name }}"
    again = PendingChanges(work)
    execute(pattern_named("feature", tmp_path), {"name": "stop watch", "tags": "x, y"}, again)
    assert again.written == []
    with pytest.raises(PatternInputsInvalid, match=r"size must be at most 9, not 10"):
        execute(pattern_named("feature", tmp_path), {"name": "x", "size": "10"}, again)


@pytest.mark.parametrize("value", ["../../out", "/tmp/out", ".git/hooks/post-commit", "link/out"])
def test_no_input_leads_a_template_out_of_the_workspace(value: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    make(tmp_path, schema=schema, **{"{{ path }}": "x", "ok.txt": "x"})
    work = tmp_path / "work"
    work.mkdir()
    (work / "link").symlink_to(tmp_path)

    with pytest.raises(PatternInputsInvalid):
        execute(pattern_named("feature", tmp_path), {"path": value}, PendingChanges(work))

    assert [path.name for path in work.iterdir()] == ["link"]
    assert not (tmp_path / "out").exists()


def test_two_templates_that_would_write_one_file_are_refused(tmp_path: Path) -> None:
    make(tmp_path, **{"{{ name }}.txt": "one", "same.txt": "other"})

    with pytest.raises(PatternInputsInvalid, match=r"two templates would write same\.txt"):
        execute(pattern_named("feature", tmp_path), {"name": "same"}, PendingChanges(tmp_path / ".milepost"))


def test_a_template_that_is_a_link_out_of_its_pattern_is_refused(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    place = make(tmp_path)
    (place / "templates/copy.txt").symlink_to(tmp_path / "secret")

    with pytest.raises(SettingInvalid, match="a link leads it out"):
        pattern_named("feature", tmp_path)


@pytest.mark.parametrize(
    ("schema", "template", "says"),
    [
        ("{", "", "schema.json is not JSON"),
        ([], "", 'must be an object with "type": "object"'),
        ({**SCHEMA, "anyOf": []}, "", "the keyword 'anyOf' is not known"),
        ({**SCHEMA, "required": ["nmae"]}, "", "'nmae' is required but is not a property"),
        ({"type": "object", "properties": {"a": {"type": "object"}}}, "", "a: the type must be one of"),
        ({"type": "object", "properties": {"a": {"format": "date"}}}, "", "a: the keyword 'format' is not known"),
        ({"type": "object", "properties": {"a": {"pattern": "("}}}, "", "a: the pattern is not a regular expression"),
        (
            SCHEMA,
            "{{ nmae }} {{ name | loud }} {{ a b }}",
            "there is no input 'nmae'; templates/x: 'loud' is not a change",
        ),
        ({"type": "object", "properties": {"a": {}}}, "{{ a }}", "'a' must be required or have a default"),
    ],
)
def test_a_broken_pattern_says_all_that_is_wrong_with_it(schema: Any, template: str, says: str, tmp_path: Path) -> None:
    make(tmp_path, schema=schema, x=template)

    with pytest.raises(SettingInvalid) as problem:
        pattern_named("feature", tmp_path)

    assert says in problem.value.message.replace("; templates/x: '{{ a b }}' cannot be read", "")


def test_an_unknown_name_is_told_with_those_there_are(tmp_path: Path) -> None:
    make(tmp_path)
    make(tmp_path / "shared", "other")
    setup = PatternSetup(folders=(Path("shared/.milepost/patterns"),))

    with pytest.raises(AgentUnknown) as problem:
        pattern_named("fly", tmp_path, setup)

    assert problem.value.advice == (
        "the patterns are: module_creation, config_setup, automation_enabled_status, implementation_status, "
        "rename_symbol, add_dependency, bump_version, run_command, feature, other"
    )


def test_a_folder_of_patterns_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="there is no folder 'nowhere' with patterns"):
        pattern_named("bump_version", tmp_path, PatternSetup(folders=(Path("nowhere"),)))


def test_a_name_with_two_meanings_is_refused(tmp_path: Path) -> None:
    make(tmp_path, "bump_version")

    with pytest.raises(SettingInvalid, match=r"'bump_version' is there more than once: built in, .*patterns/bump"):
        pattern_named("bump_version", tmp_path)


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A package with patterns of its own."""
    place = tmp_path / "site"
    (place / "theirs-1.0.dist-info").mkdir(parents=True)
    (place / "theirs-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (place / "theirs-1.0.dist-info/entry_points.txt").write_text(
        "[milepost.patterns]\ngood = theirs:Good\nlacking = theirs:lacking\nlost = theirs:lost\n"
    )
    (place / "theirs.py").write_text(
        "lacking = object()\n"
        "class Good:\n"
        "    name = 'good'\n"
        "    schema = {'type': 'object', 'properties': {'word': {}}, 'required': ['word']}\n"
        "    def validate_inputs(self, inputs):\n"
        "        return () if set(inputs) == {'word'} else ('only word is known',)\n"
        "    def execute(self, inputs, site):\n"
        "        site.create({'word.txt': inputs['word']})\n"
    )
    monkeypatch.syspath_prepend(str(place))
    yield
    sys.modules.pop("theirs", None)


@pytest.mark.usefixtures("installed")
def test_an_entry_point_is_a_pattern(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()

    execute(pattern_named("good"), {"word": "hello"}, PendingChanges(work))

    assert (work / "word.txt").read_text() == "hello"
    with pytest.raises(SettingInvalid, match="'lost' cannot be loaded: AttributeError"):
        pattern_named("lost")
    with pytest.raises(SettingInvalid, match="it lacks name, schema, validate_inputs, execute"):
        pattern_named("lacking")


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("inputs", "name"),
    [
        ({"word": "x"}, "good"),
        ({"old": "a", "new": "b"}, "rename_symbol"),
        ({"part": "minor"}, "bump_version"),
        ({"command": "make"}, "run_command"),
        ({"name": "x"}, ""),  # a module, or a package to depend on
        ({"old": "a"}, ""),
        ({"old": "a", "new": "b", "more": "c"}, ""),
        ({}, ""),
    ],
)
def test_inputs_that_one_pattern_takes_exactly_mean_that_pattern(inputs: dict[str, str], name: str) -> None:
    assert matching(inputs, known_patterns()) == name


def test_every_pattern_that_ships_has_a_schema_that_users_could_write() -> None:
    for known in known_patterns():
        schema = known.load().schema
        assert schema_problems(schema) == ()
        assert schema["description"].endswith("."), known.name
