"""The private home of a program: what is put there, what is lent to it, and what of it goes back to the user."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from milepost.agents.programs import home as homes
from milepost.agents.programs.login import is_renewal, lent

NAME = ".agent/login.json"
OLD = {"tokens": {"access_token": "a1", "refresh_token": "r1", "account_id": "me"}, "last_refresh": 1, "key": None}
NEW = {"tokens": {"access_token": "a2", "refresh_token": "r2", "account_id": "me"}, "last_refresh": 2, "key": None}


@pytest.fixture
def user(tmp_path: Path) -> Path:
    (tmp_path / "user/.agent").mkdir(parents=True)
    login = tmp_path / "user" / NAME
    login.write_text(json.dumps(OLD))
    login.chmod(0o600)
    return tmp_path / "user"


def test_files_are_for_their_owner_only_and_replace_links_instead_of_following_them(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "config").write_text("theirs")
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/home").symlink_to(outside)
    home = homes.made(tmp_path / "kept")
    (home / "dir").symlink_to(outside)
    (home / "config").symlink_to(outside / "config")

    homes.put(home, {"dir/config": "ours", "config": "ours"})

    assert (outside / "config").read_text() == "theirs"
    assert (home / "dir/config").read_text() == (home / "config").read_text() == "ours"
    assert [oct(path.stat().st_mode)[-3:] for path in (home, home / "dir", home / "config")] == ["700", "700", "600"]
    for name in ("/etc/x", "../x", "a/../../x", ""):
        with pytest.raises(ValueError, match="is not a path below a home folder"):
            homes.put(home, {name: ""})


def test_an_emptied_home_has_nothing_in_it(tmp_path: Path) -> None:
    home = homes.made(tmp_path)
    homes.put(home, {"sessions/s-1.jsonl": "{}"})
    assert [*homes.emptied(tmp_path).iterdir()] == []
    assert [path.name for path in tmp_path.iterdir()] == ["home"]


def test_a_login_is_lent_and_brought_back_when_it_was_renewed(tmp_path: Path, user: Path) -> None:
    home = homes.made(tmp_path / "kept")
    with lent(NAME, users_home=user, home=home):
        assert json.loads((home / NAME).read_text()) == OLD
        assert oct((home / NAME).stat().st_mode)[-3:] == "600"
        (home / NAME).write_text(json.dumps(NEW))
    assert json.loads((user / NAME).read_text()) == NEW
    assert oct((user / NAME).stat().st_mode)[-3:] == "600"
    assert not (home / NAME).exists()


def test_a_login_that_was_renewed_before_a_crash_is_brought_back_by_the_next_attempt(
    tmp_path: Path, user: Path
) -> None:
    home = homes.made(tmp_path / "kept")
    homes.put(home, {NAME: json.dumps(NEW)})
    with lent(NAME, users_home=user, home=home):
        assert json.loads((home / NAME).read_text()) == NEW
    assert json.loads((user / NAME).read_text()) == NEW


def test_a_login_that_the_user_renewed_meanwhile_is_kept(tmp_path: Path, user: Path) -> None:
    home = homes.made(tmp_path / "kept")
    with lent(NAME, users_home=user, home=home):
        (home / NAME).write_text(json.dumps(NEW))
        (user / NAME).write_text(json.dumps({**OLD, "last_refresh": 3}))
        later = (home / NAME).stat().st_mtime_ns + 1
        os.utime(user / NAME, ns=(later, later))
    assert json.loads((user / NAME).read_text()) == {**OLD, "last_refresh": 3}


@pytest.mark.parametrize(
    "left",
    [
        "{half",
        "[]",
        json.dumps(
            {"tokens": {"access_token": "x", "refresh_token": "x", "account_id": "somebody else"}, "last_refresh": 2}
        ),
        json.dumps({"tokens": {}, "last_refresh": 2}),
        json.dumps({**NEW, "last_refresh": "never"}),
        json.dumps({**NEW, "key": "sk-somebody-else"}),
        json.dumps({**NEW, "more": True}),
        "[" * 100_000,
        json.dumps(NEW) + " " * 1_000_001,
    ],
)
def test_what_is_no_renewal_of_the_same_account_stays_out(tmp_path: Path, user: Path, left: str) -> None:
    home = homes.made(tmp_path / "kept")
    with lent(NAME, users_home=user, home=home):
        (home / NAME).write_text(left)
    assert json.loads((user / NAME).read_text()) == OLD
    assert is_renewal(json.dumps(OLD).encode(), json.dumps(NEW).encode())


@pytest.mark.parametrize("trick", ["link", "folder is a link", "pipe", "gone"])
def test_links_and_pipes_in_its_place_lead_nowhere(tmp_path: Path, user: Path, trick: str) -> None:
    home, other = homes.made(tmp_path / "kept"), tmp_path / "other"
    other.mkdir()
    (other / "login.json").write_text(json.dumps(NEW))
    with lent(NAME, users_home=user, home=home):
        (home / NAME).unlink()
        match trick:
            case "link":
                (home / NAME).symlink_to(other / "login.json")
            case "folder is a link":
                (home / ".agent").rmdir()
                (home / ".agent").symlink_to(other)
            case "pipe":
                os.mkfifo(home / NAME)
    assert json.loads((user / NAME).read_text()) == OLD
    assert json.loads((other / "login.json").read_text()) == NEW
    assert not (home / NAME).exists()


def test_a_user_who_is_not_signed_in_lends_nothing(tmp_path: Path) -> None:
    home = homes.made(tmp_path / "kept")
    with lent(NAME, users_home=tmp_path / "nobody", home=home):
        assert not (home / NAME).exists()
    assert not (tmp_path / "nobody").exists()
