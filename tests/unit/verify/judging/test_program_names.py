from __future__ import annotations

import pytest

from milepost.core.change import Change, ChangedFile
from milepost.verify.judging.program_names import hidden_programs


@pytest.mark.parametrize(
    ("path", "before", "after", "mode", "refused"),
    [
        ("src/assert.h", None, "#define assert(x)\n", "100644", True),
        ("src/slug.h", None, "int slug();\n", "100644", False),
        ("bin/diff", None, "#!/bin/sh\nexit 0\n", "100755", True),
        ("bin/slugger", None, "#!/bin/sh\nexit 0\n", "100755", False),
        ("lib/slug.sh", "slug() { :; }\n", "slug() { :; }\ntest() { return 0; }\n", "100644", True),
        ("lib/slug.sh", "log() { :; }\n", "log() { :; }\nsay_hello() { :; }\n", "100644", False),
        ("lib/slug.sh", "", "alias grep=true\n", "100644", True),
        ("lib/slug.sh", "test() { :; }\n", "test() { command test; }\n", "100644", False),
    ],
)
def test_what_would_hide_something_of_the_machine_is_refused_by_its_name(
    path: str, before: str | None, after: str, mode: str, refused: bool
) -> None:
    file = ChangedFile(
        path=path, before=before.encode() if before is not None else None, after=after.encode(), mode=mode
    )
    base = frozenset({path}) if before is not None else frozenset[str]()

    found = hidden_programs(Change(files=(file,)), base, lambda name: name == "diff")

    assert bool(found) is refused
