"""From a milepost to an artifact at the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from milepost.sandbox.levels import ladder
from tests.e2e.conftest import Sandbox

pytestmark = pytest.mark.skipif(not ladder()[1].ok, reason="the sandbox cannot be held here")


def test_what_is_proven_is_packaged_and_what_is_not_says_why(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Page\n  write index.html <html>hello</html>\n  - Verify: `test -s index.html`\n")
    assert sandbox.run().code == 0

    made = sandbox.milepost("package", "--json", "--out", "out").json
    assert (made["kind"], made["unproven"], made["mileposts"], made["cached"]) == ("static", "", 1, False)
    assert made["ran"].startswith("page ")
    told = json.loads(Path(made["provenance"]).read_text())
    assert told["subject"][0]["digest"] == {"sha256": made["sha256"]}
    (evidence,) = [
        one["annotations"] for one in told["predicate"]["runDetails"]["byproducts"] if one["name"] == "evidence"
    ]
    assert [one["task"] for one in evidence["mileposts"]] == ["1.1"] and evidence["mileposts"][0]["evidence"]
    assert (sandbox.repo / "out/site/index.html").is_file()
    assert sandbox.milepost("package", "--json").json["cached"]

    sandbox.write("index.html", "<html>by hand</html>")
    sandbox.commit()
    refused = sandbox.milepost("package")
    assert refused.code == 1
    assert refused.stderr.startswith("error: index.html and") or refused.stderr.startswith("error: index.html changed")
    assert "milepost package " in refused.stderr and "--unproven" in refused.stderr

    sandbox.git("notes", "--ref=milepost", "remove", "HEAD~1")
    assert "has no evidence note" in sandbox.milepost("package", "HEAD~1").stderr


def test_bad_input_is_one_line_and_says_what_to_do(sandbox: Sandbox) -> None:
    sandbox.roadmap("- [ ] 1.1 Page\n")
    for words, code, line in (
        (("package", "--unproven"), 2, "error: nothing here says what to package"),
        (("package", "--as", "deb", "--unproven"), 2, "error: there is no kind of artifact 'deb'"),
        (("package", "no-such-commit", "--unproven"), 2, "error: there is no commit 'no-such-commit'"),
        (("package", "--as", "rust", "--unproven"), 2, "error: Cargo.toml declares no program here"),
    ):
        answer = sandbox.milepost(*words)
        assert (answer.code, answer.stdout) == (code, "")
        assert answer.stderr.splitlines()[-2].startswith(line), answer.stderr
