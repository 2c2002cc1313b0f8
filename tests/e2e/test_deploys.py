"""Deploying from the command line: what it says, what it refuses, and that a killed deploy goes on."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from milepost.engine.records.releases import Releases
from milepost.ship.local.processes import carrying, leader_of, mark_of
from milepost.ship.local.proxy import Proxy
from milepost.ship.local.target import LocalTarget
from milepost.ship.local.wanted import read_wanted
from milepost.store.database import open_database
from tests import places
from tests.deploying import APPLICATION, SETTINGS, needs_envoy
from tests.e2e.conftest import Sandbox

pytestmark = needs_envoy
ROADMAP = "- [ ] 1.1 Write hello\n  - write hello.txt hello\n  - Verify: `test -f hello.txt`\n"


@pytest.fixture
def shop(sandbox: Sandbox) -> Iterator[Sandbox]:
    """A project with an application and one task."""
    sandbox.write("app.py", APPLICATION)
    sandbox.write("release", "one,")
    sandbox.write("milepost.toml", SETTINGS.replace("[2]", "[1]").replace("1.5", "0.3"))
    sandbox.roadmap(ROADMAP)
    yield sandbox
    with contextlib.suppress(IndexError):
        LocalTarget(_releases(sandbox)[0].spec, _folder(sandbox)).scale(0)


def test_a_milepost_is_deployed_and_what_is_none_is_not(shop: Sandbox) -> None:
    refused = shop.milepost("deploy", "local")
    assert refused.code == 1
    assert "contains no milepost of ROADMAP.md" in refused.stderr

    assert shop.run().code == 0
    live = shop.milepost("deploy", "local", "--json")
    assert (live.code, live.json["stage"], live.json["release"]) == (0, "live", 1)
    assert live.json["proof"].startswith("milepost 1.1 (")
    assert [line.split()[2] for line in live.stderr.splitlines()] == [
        *("building", "uploading", "starting", "checking", "switching", "soaking", "live")
    ]

    shop.git("notes", "--ref=milepost", "add", "--force", "--message", "{}", "HEAD")
    forged = shop.milepost("deploy", "local")
    assert forged.code == 1
    assert "is not proven" in forged.stderr

    shop.write("release", "two,never")
    shop.commit()
    rejected = shop.milepost("deploy", "local", "--unproven")
    assert rejected.code == 1
    assert "release 2 was rejected and never had traffic" in rejected.stdout
    assert "release 1 is still live" in rejected.stdout
    found = shop.milepost("releases", "local", "--json").json
    assert [(one["release"], one["stage"], one["proof"] is None) for one in found] == [
        *((2, "rejected", True), (1, "live", False))
    ]


def test_prod_waits_for_a_person_and_may_be_refused(shop: Sandbox) -> None:
    words = ("deploy", "local", "--env", "prod", "--unproven")
    waits = shop.milepost(*words)
    assert (waits.code, "waits for a person" in waits.stdout) == (1, True)
    assert shop.milepost("rollback", "local", "--env", "prod").code == 0
    assert [one["stage"] for one in _list(shop, "prod")] == ["rejected"]
    assert shop.milepost(*words).code == 1
    assert shop.milepost(*words, "--dry-run").code == 0
    gone = shop.milepost("rollback", "local", "--env", "prod")
    assert gone.code == 0
    assert [one["stage"] for one in _list(shop, "prod")] == ["rejected", "rejected"]


def test_a_deploy_that_is_killed_at_every_stage_goes_on(shop: Sandbox, tmp_path: Path) -> None:
    """Each life is killed one boundary further than the one before; at the end all is as if nothing had happened."""
    assert shop.milepost("deploy", "local", "--unproven").code == 0
    for number, (fault, stage) in enumerate((("", "live"), ("never", "rejected")), start=2):
        shop.write("release", f"{number},{fault}")
        shop.commit()
        lives = _lives(shop, tmp_path / f"seen-{number}", "deploy", "local", "--unproven")
        assert lives > {"live": 8, "rejected": 5}[stage]
        assert (_releases(shop)[0].number, str(_releases(shop)[0].stage)) == (number, stage)
        _is_one(shop, live=2)
    assert _lives(shop, tmp_path / "seen-back", "rollback", "local") > 2
    assert [str(one.stage) for one in _releases(shop)] == ["rejected", "rolled back", "live"]
    _is_one(shop, live=1)


def test_what_happens_to_releases_is_kept_followed_and_reported(shop: Sandbox) -> None:
    assert shop.run().code == 0
    assert shop.milepost("events", "--target", "local").stdout == ""
    with shop.start("deploy", "local") as deploying:
        assert deploying.stderr is not None and "building" in deploying.stderr.readline()
        followed = shop.milepost("events", "--target", "local", "--follow", "--json").events
        deploying.communicate()
        assert deploying.returncode == 0
    stages = ["building", "uploading", "starting", "checking", "switching", "soaking", "live"]
    assert [one["stage"] for one in followed] == stages
    assert {(one["event"], one["target"], one["environment"], one["release"]) for one in followed} == {
        ("release_moved", "local", "dev", 1)
    }
    again = shop.milepost("events", "--target", "local", "--json", "--after", str(followed[4]["seq"])).events
    assert again == followed[5:]
    assert [line.split()[-1] for line in shop.milepost("events", "--target", "local").stdout.splitlines()] == stages

    shop.milepost("report", "--html", "report.html", "--markdown", "report.md")
    page, text = ((shop.repo / f"report.{ending}").read_text() for ending in ("html", "md"))
    assert "## Releases" in text and "| local \\(dev\\) | 1 | live |" in text
    assert ">Releases</h2>" in page and "milepost 1.1 (" in page


def _lives(shop: Sandbox, seen: Path, *words: str) -> int:
    """Start it, then resume until nothing is left to be done; how many lives it took. The last one clears up."""
    for life in range(1, 40):
        answer = shop.milepost(*(words if life == 1 else ("resume",)), MILEPOST_CHAOS_SEEN=str(seen))
        assert answer.code in (0, 1, -signal.SIGKILL), answer.stderr
        if not any(one.unfinished for one in _releases(shop)):
            assert shop.milepost("resume").code == 0
            return life
    raise AssertionError("it is killed for ever")


def _is_one(shop: Sandbox, *, live: int) -> None:
    """The record, the proxy and the processes say the same, and nothing else runs."""
    records = _releases(shop)
    assert [one.number for one in records if str(one.stage) == "live"] == [live]
    assert not any(one.unfinished for one in records)
    assert Proxy(_folder(shop)).shown()[0] == str(live)
    wanted = read_wanted(_folder(shop))
    assert wanted is not None
    names = {program.name for program in wanted.programs}
    assert f"{live}.0" in names
    assert {number.partition(".")[0] for number in names} <= {"proxy", str(live), str(live - 1)}
    marks = {mark_of(pid) for pid in carrying(wanted.mark)}
    assert sorted(mark.split("/")[1] for mark in marks if leader_of(mark)) == sorted(names)
    kept = {record.number for record in records if record.kept}
    assert kept == {int(name.partition(".")[0]) for name in names if not name.startswith("proxy")}


def _list(shop: Sandbox, environment: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = shop.milepost("releases", "local", "--env", environment, "--json").json
    return found


def _folder(shop: Sandbox) -> Path:
    return places.state(shop.repo) / "targets/local/dev"


def _releases(shop: Sandbox):  # type: ignore[no-untyped-def]
    with contextlib.closing(open_database(places.database(shop.repo))) as rows:
        return Releases(rows, "local", "dev").all()
