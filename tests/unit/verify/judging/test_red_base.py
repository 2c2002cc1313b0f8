"""A base that is red is told as that, with what would help."""

from __future__ import annotations

from milepost.verify.judging.red_base import missing_files, red_base


def test_a_green_base_is_not_spoken_of() -> None:
    assert red_base({"a": "passed", "b": "skipped"}) == ""
    assert red_base({}) == "" and red_base(None) == ""


def test_what_is_red_is_named() -> None:
    told = red_base({"t.py::a": "failed", "t.py::b": "passed"})
    assert told == "the base is red: 1 test fails of 2 before any work: t.py::a"
    told = red_base({"npm test": "failed"}, messages=["", "\nerror TS2307: no module\nmore"])
    assert told.endswith("npm test: error TS2307: no module")
    assert red_base(None, "exit 4: no conftest") == (
        "the tests cannot be run at the base, before any work: exit 4: no conftest"
    )


def test_a_missing_file_is_offered_only_where_git_ignores_it() -> None:
    said = ["FileNotFoundError: [Errno 2] No such file or directory: '/var/tmp/m/x/tree/config/local.json'"]
    told = red_base({"a": "failed"}, messages=said, has_ignored={"config/local.json": True}.get)
    assert told.endswith(
        'git ignores config/local.json: [workspace] copy = ["config/local.json"] copies it into checkouts'
    )
    assert "copy" not in red_base({"a": "failed"}, messages=said)
    absent = red_base({"a": "failed"}, messages=said, has_ignored={"config/local.json": False}.get)
    assert "write config/local.json, which is not in your repository either; [workspace] copy" in absent
    assert missing_files(["Error: ENOENT: no such file or directory, open '.env'"]) == (".env",)
    assert missing_files(["open .env: no such file or directory", "cat: a/b: No such file"]) == (".env", "a/b")


def test_a_service_that_was_refused_is_told_with_its_settings() -> None:
    told = red_base({"a": "failed"}, messages=["connect ECONNREFUSED 127.0.0.1:6379"])
    assert 'Redis cannot be reached: [sandbox] network = ["127.0.0.1:6379"]' in told
