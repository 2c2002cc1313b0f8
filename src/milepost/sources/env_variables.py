"""The names of the environment's variables that code reads; never what they hold."""

from __future__ import annotations

import re

_NAME = r"(?P<{}>[A-Za-z_][A-Za-z0-9_]{{1,80}})"
_CALLS = (
    r"os\.environ\.(?:get|pop|setdefault)|environ\.get|getenv|os\.environ|\benviron|process\.env|import\.meta\.env"
    r"|Deno\.env\.get|os\.LookupEnv|os\.Getenv|env::var(?:_os)?|option_env!|\benv!|System\.getenv|\bENV\.fetch|\bENV"
    r"|\$_ENV|\$_SERVER"
)
_READ = re.compile(
    rf"(?:{_CALLS})\s{{0,4}}[\[(]\s{{0,4}}[\"'`]{_NAME.format('quoted')}[\"'`]"
    rf"|(?:process\.env|import\.meta\.env)\.{_NAME.format('dotted')}"
)
_KEY = re.compile(r"^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]{0,80})[ \t]*=", re.MULTILINE)


def variables_in(text: str) -> tuple[str, ...]:
    """The names of variables that some code reads, sorted."""
    if "env" not in text and "ENV" not in text and "Env" not in text:
        return ()
    return tuple(sorted({found["quoted"] or found["dotted"] for found in _READ.finditer(text)}))


def keys_in(text: str) -> tuple[str, ...]:
    """The names on the left of a file of settings such as .env.example, in their order."""
    return tuple(dict.fromkeys(_KEY.findall(text)))
