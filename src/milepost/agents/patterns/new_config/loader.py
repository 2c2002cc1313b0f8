"""The Python source that loads a configuration, and its tests."""

from __future__ import annotations

from typing import Any

from milepost.agents.patterns.new_config.settings_statement import Setting, SettingType
from milepost.agents.patterns.new_module.python_module import literal
from milepost.agents.patterns.template import pascal

_TYPES = {"text": "str", "integer": "int", "number": "float", "boolean": "bool"}

_LOADER = '''\
"""The configuration of {name}: what config/{name}.{form} can hold, and how it is read."""

{imports}


class ConfigInvalid(Exception):
    """Says everything that is wrong with a configuration."""

{choices}
@dataclass(frozen=True, slots=True, kw_only=True)
class {title}Config:
    """The settings, with the values they have when nobody sets them."""

{fields}


def load(path: Path | str) -> {title}Config:
    """Return the configuration in a file."""
    text = Path(path).read_text(encoding="utf-8")
    try:
        values = {parse}
    except ValueError as error:
        raise ConfigInvalid(f"{{path}}: {{error}}") from error
    if not isinstance(values, dict):
        raise ConfigInvalid(f"{{path}}: it must hold settings by their names")
    return from_values(values)


def from_values(values: Mapping[str, object]) -> {title}Config:
    """Return the configuration with these values."""
    known = {title}Config()
    names = {{field.name for field in fields(known)}}
    problems = [f"{{name}} is not a setting" for name in values if name not in names]
    config = {title}Config(
{readings}
    )
    if problems:
        raise ConfigInvalid("; ".join(problems))
    return config

{readers}'''

_READERS: dict[SettingType, str] = {
    "text": """
def _text(values: Mapping[str, object], name: str, default: str, problems: list[str]) -> str:
    value = values.get(name, default)
    if not isinstance(value, str):
        problems.append(f"{name} must be a text, not {value!r}")
        return default
    return value
""",
    "boolean": """
def _boolean(values: Mapping[str, object], name: str, default: bool, problems: list[str]) -> bool:
    value = values.get(name, default)
    if not isinstance(value, bool):
        problems.append(f"{name} must be true or false, not {value!r}")
        return default
    return value
""",
    "integer": """
def _integer(values: Mapping[str, object], name: str, default: int, bounds: Bounds, problems: list[str]) -> int:
    value = values.get(name, default)
    if not isinstance(value, int) or isinstance(value, bool):
        problems.append(f"{name} must be a whole number, not {value!r}")
        return default
    problems.extend(_out_of(bounds, name, value))
    return value
""",
    "number": """
def _number(values: Mapping[str, object], name: str, default: float, bounds: Bounds, problems: list[str]) -> float:
    value = values.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool):
        problems.append(f"{name} must be a number, not {value!r}")
        return default
    problems.extend(_out_of(bounds, name, value))
    return value
""",
    "choice": """
def _choice(values: Mapping[str, object], name: str, default: Choice, problems: list[str]) -> Choice:
    value = values.get(name, default)
    try:
        return type(default)(str(value))
    except ValueError:
        problems.append(f"{name} must be one of {', '.join(type(default))}, not {value!r}")
        return default
""",
}

_OUT_OF = """
def _out_of(bounds: Bounds, name: str, value: float) -> list[str]:
    low, high = bounds
    if low is not None and value < low:
        return [f"{name} must be at least {low}, not {value}"]
    if high is not None and value > high:
        return [f"{name} must be at most {high}, not {value}"]
    return []
"""

# The standard library reads no YAML: the lines that a flat configuration needs are few, and others are refused.
_YAML = """
def _yaml(text: str) -> dict[str, object]:
    values: dict[str, object] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = re.fullmatch(r"(\\w+):\\s+(\\S.*?)\\s*", re.sub(r"\\s+#[^\\"]*$", "", line))
        if found is None or found[1] in values:
            raise ValueError(f"line {number}: it must be `name: value`, each name once")
        values[found[1]] = _scalar(found[2], number)
    return values


def _scalar(text: str, number: int) -> object:
    try:
        value: object = json.loads(text)
    except ValueError:
        if re.match(r"[\\[\\]{}\\"'&*!|>%@`,?:#-]", text) or ": " in text:
            raise ValueError(f"line {number}: {text} must be in double quotes") from None
        return text
    return value
"""

_TESTS = '''\
"""Tests of {name}_config."""

import tempfile
import unittest
from pathlib import Path

from {name}_config import {classes}, from_values, load

FOLDER = Path(__file__).resolve().parents[1] / "config"


class {title}ConfigTest(unittest.TestCase):
    def test_the_file_and_its_example_hold_the_values_to_begin_with(self) -> None:
        for name in ("{name}.{form}", "{name}.example.{form}"):
            self.assertEqual(load(FOLDER / name), {title}Config())

    def test_the_values_to_begin_with_are_these(self) -> None:
        config = {title}Config()
{defaults}

    def test_a_value_that_is_set_counts(self) -> None:
        config = from_values({{"{first}": {other}}})
        self.assertEqual(config.{first}, {other})

    def test_a_file_that_cannot_be_read_is_refused(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "broken.{form}"
            path.write_text("[", encoding="utf-8")
            with self.assertRaises(ConfigInvalid):
                load(path)

    def test_all_that_is_wrong_is_told_at_once(self) -> None:
        with self.assertRaises(ConfigInvalid) as problem:
            from_values({{{wrong}}})
        for name in {names}:
            self.assertIn(name, str(problem.exception))
{ranges}

if __name__ == "__main__":
    unittest.main()
'''

_RANGE_TEST = """
    def test_{name}_stays_in_its_range(self) -> None:
        for value in ({values},):
            with self.assertRaises(ConfigInvalid):
                from_values({{"{name}": value}})
"""


def loader_source(name: str, form: str, settings: tuple[Setting, ...]) -> str:
    """The module that loads a configuration."""
    kinds = {setting.type for setting in settings}
    bounded = bool(kinds & {"integer", "number"})
    choices = "".join(map(_choice_source, (setting for setting in settings if setting.choices)))
    readers = "".join(f"{_READERS[kind]}\n" for kind in _READERS if kind in kinds)
    readers += f"{_OUT_OF}\n" if bounded else ""
    readers += f"{_YAML}\n" if form == "yaml" else ""
    aliases = "Bounds = tuple[float | None, float | None]\n" if bounded else ""
    aliases += 'Choice = TypeVar("Choice", bound=StrEnum)\n' if "choice" in kinds else ""
    return _LOADER.format(
        name=name,
        form=form,
        title=pascal(name),
        imports=_imports(form, choices=bool(choices)) + (f"\n\n{aliases.rstrip()}" if aliases else ""),
        choices=f"\n{choices}" if choices else "\n",
        fields="\n".join(f"    {setting.name}: {_type(setting)} = {_default(setting)}" for setting in settings),
        parse={"toml": "tomllib.loads(text)", "json": "json.loads(text)", "yaml": "_yaml(text)"}[form],
        readings="\n".join(f"        {setting.name}={_reading(setting)}," for setting in settings),
        readers=readers.rstrip("\n") + "\n",
    )


def test_source(name: str, form: str, settings: tuple[Setting, ...]) -> str:
    """The tests of the module that loads a configuration."""
    first = settings[0]
    wrong = {**{setting.name: _wrong(setting) for setting in settings}, "no_such_setting": 1}
    return _TESTS.format(
        name=name,
        form=form,
        title=pascal(name),
        classes=", ".join(sorted(("ConfigInvalid", f"{pascal(name)}Config"))),
        defaults="\n".join(
            f"        self.assertEqual(config.{setting.name}, {literal(setting.default)})" for setting in settings
        ),
        first=first.name,
        other=literal(_other(first)),
        wrong=", ".join(f'"{key}": {literal(value)}' for key, value in wrong.items()),
        names=literal_list(list(wrong)),
        ranges="".join(map(_range_test, settings)),
    )


def literal_list(names: list[str]) -> str:
    return f"[{', '.join(map(literal, names))}]"


def _imports(form: str, *, choices: bool) -> str:
    plain = {"toml": ["import tomllib"], "json": ["import json"], "yaml": ["import json", "import re"]}[form]
    named = ["from collections.abc import Mapping", "from dataclasses import dataclass, fields"]
    named += ["from enum import StrEnum"] if choices else []
    named += ["from pathlib import Path"]
    named += ["from typing import TypeVar"] if choices else []
    return "\n".join((*plain, *named))


def _class_of(setting: Setting) -> str:
    return f"{pascal(setting.name)}Choice"


def _choice_source(setting: Setting) -> str:
    members = "".join(f'    {each.replace("-", "_").upper()} = "{each}"\n' for each in setting.choices)
    return f'\nclass {_class_of(setting)}(StrEnum):\n    """What {setting.name} can be."""\n\n{members}\n'


def _type(setting: Setting) -> str:
    return _class_of(setting) if setting.choices else _TYPES[setting.type]


def _default(setting: Setting) -> str:
    if setting.choices:
        return f"{_class_of(setting)}.{str(setting.default).replace('-', '_').upper()}"
    return literal(setting.default)


def _reading(setting: Setting) -> str:
    bounds = f"({setting.low}, {setting.high}), " if setting.type in ("integer", "number") else ""
    return f'_{setting.type}(values, "{setting.name}", known.{setting.name}, {bounds}problems)'


def _wrong(setting: Setting) -> Any:
    """A value of another type."""
    return 1.5 if setting.type == "text" else "no such value"


def _other(setting: Setting) -> Any:
    """Another value that the setting can have, as far as there is one."""
    match setting.type:
        case "boolean":
            return not setting.default
        case "text":
            return f"{setting.default} too"
        case "choice":
            return next((each for each in setting.choices if each != setting.default), setting.default)
        case _:
            return next((end for end in (setting.low, setting.high) if end is not None), setting.default + 1)


def _range_test(setting: Setting) -> str:
    below = [setting.low - 1] if setting.low is not None else []
    above = [setting.high + 1] if setting.high is not None else []
    if not below and not above:
        return ""
    return _RANGE_TEST.format(name=setting.name, values=", ".join(map(str, (*below, *above))))
