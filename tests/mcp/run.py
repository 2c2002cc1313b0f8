"""All legs of the suite at once against one server, told as a table."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from tests.mcp.fixtures import MODES, astray
from tests.mcp.serving import served
from tests.mcp.suite import LEGS, Result, ended, started, table


def run(node: Path) -> int:
    """Run the suite with this Node and print what came of it; 0 if all of it passed."""
    with served() as server, tempfile.TemporaryDirectory() as folder:
        missing = [f"{name} ({mode})" for mode in MODES for name in asyncio.run(astray(server.url, mode))]
        places = [Path(folder) / str(number) for number in range(len(LEGS))]
        processes = [started(leg, node, server.url, place) for leg, place in zip(LEGS, places, strict=True)]
        results = [ended(*each) for each in zip(LEGS, processes, places, strict=True)]
        left = server.stop()
    print_results(results)
    wrong = [f"a fixture is not as it has to be: {name}" for name in missing]
    if left != 0:
        wrong.append(f"the server ended with {left}")
    sys.stdout.writelines(f"{line}\n" for line in wrong)
    return 0 if not wrong and all(result.clean for result in results) else 1


def print_results(results: list[Result]) -> None:
    sys.stdout.write(f"{table(results)}\n")
    for result in results:
        complaints = [f"{each.name}: {complaint}" for each in result.scenarios for complaint in each.complaints]
        sys.stdout.writelines(f"{result.leg.name}: {line}\n" for line in (*result.problems, *complaints))
