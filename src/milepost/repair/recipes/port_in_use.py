"""The recipe for a test that wanted a port that something else had: nothing to mend, try it again."""

from __future__ import annotations

import re

from milepost.repair.recipes.recipe import Answer, RecipeTools, RepairCase, VerifyAgain

_IN_USE = re.compile(
    r"EADDRINUSE|[Aa]ddress already in use|AddrInUse\b|bind: address already in use|\[Errno (?:98|48)\]"
)
_PORT = re.compile(r"(?::|[Pp]ort )(\d{2,5})\b(?![.\d])")


class PortInUse:
    """Asks for one more verification of the same tree."""

    name = "port in use"

    def fits(self, case: RepairCase) -> bool:
        return _IN_USE.search(case.said) is not None

    def apply(self, case: RepairCase, tools: RecipeTools) -> Answer | None:
        lines = [line for line in case.said.splitlines() if _IN_USE.search(line)]
        port = _PORT.search(lines[0])
        return VerifyAgain(what=f"port {port[1]} was in use" if port else "a port was in use")
