"""A script and the command that runs it, which tells on its way the exception that the script ends with."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, assert_never

from milepost.core.errors import Misuse
from milepost.sandbox.typescript.deno import find_deno

Language = Literal["python", "javascript", "typescript"]

CONFESSORS = Path(__file__).parent / "confessors"
REPORT_VARIABLE = "MILEPOST_REPORT"
PLAIN_OUTPUT = {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}

_LANGUAGES: dict[str, Language] = {
    ".py": "python",
    **dict.fromkeys((".js", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".tsx"), "typescript"),
}
_ENDINGS: dict[Language, str] = {"python": ".py", "javascript": ".mjs", "typescript": ".ts"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """A file of the workspace, or a text."""

    language: Language
    file: Path | None = None
    code: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def ending(self) -> str:
        """What the name of a file with the script's text ends with."""
        return _ENDINGS[self.language]


def script_file(file: Path, *arguments: str) -> Script:
    """The script in a file; its name tells the language."""
    language = _LANGUAGES.get(file.suffix)
    if language is None:
        raise Misuse(f"{file.name!r} is no script that can be run", f"its name must end with {', '.join(_LANGUAGES)}")
    return Script(language=language, file=file, arguments=arguments)


def script_command(script: Script, file: Path, *, python: str, folder: Path, report: Path) -> tuple[str, ...]:
    """What runs a script that is in `file`; what it ends with goes to `report`."""
    if script.language == "python":
        return (python, str(CONFESSORS / "confess.py"), str(report), str(file), *script.arguments)
    node = shutil.which("node") if script.language == "javascript" else None
    if node is not None:
        return (node, "--require", str(CONFESSORS / "confess.cjs"), str(file), *script.arguments)
    match script.language:
        case "javascript" | "typescript":
            return _deno_command(script, file, folder=folder, report=report)
        case _ as never:
            assert_never(never)


def _deno_command(script: Script, file: Path, *, folder: Path, report: Path) -> tuple[str, ...]:
    """Deno may touch the workspace and the script, and ask nobody."""
    return (
        *(str(find_deno()), "run", "--quiet", "--no-prompt", "--no-lock", "--no-remote", "--cached-only"),
        f"--allow-read={folder},{file.parent},{CONFESSORS}",
        f"--allow-write={folder},{report.parent}",
        f"--allow-env={REPORT_VARIABLE}",
        *("--preload", str(CONFESSORS / "confess.mjs"), str(file)),
        *script.arguments,
    )
