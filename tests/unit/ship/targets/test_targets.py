"""What a target takes, and what of its section cannot be used."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from milepost.core.errors import ArtifactUnfit, SettingInvalid
from milepost.core.ports import Target, TargetControls
from milepost.core.shipping import ArtifactKind, TargetSpec
from milepost.ship.targets import VENDORS, open_target
from milepost.ship.targets.pack import PackedFile, Packing, command_of, files_of, packed, source_files
from milepost.ship.targets.vendor import fits, label
from tests.unit.ship.targets.samples import DIGEST, release, spec

PAGE = (Path(__file__).parents[4] / "docs" / "targets.md").read_text(encoding="utf-8")
PACKINGS: tuple[Packing, ...] = ("zip", "tar.gz")
NEEDED: dict[str, dict[str, Any]] = {
    "kubernetes": {"options": (("registry", "r.example/x"),)},
    "aws": {"region": "eu-west-1"},
    "gcp": {"region": "europe-west1", "options": (("registry", "r.example/x"),)},
    "azure": {"options": (("resource_group", "Shops_1"),)},
    "digitalocean": {"region": "ams", "options": (("registry", "ghcr.io/x"),)},
}


def target(kind: str, **others: Any) -> TargetSpec:
    return spec(kind, **NEEDED.get(kind, {}) | others)


@pytest.mark.parametrize("kind", VENDORS)
def test_a_target_takes_the_kinds_that_its_page_says_and_refuses_the_others_in_a_line(kind: str) -> None:
    takes = VENDORS[kind].FACTS.takes
    assert f"| `{kind}` | {', '.join(sorted(takes))} |" in PAGE

    for other in set(ArtifactKind) - takes:
        with pytest.raises(ArtifactUnfit, match=rf"^{kind} takes {' or '.join(sorted(takes))}, and shop 1\.2\.0 is "):
            fits(VENDORS[kind], target(kind), release(other))
    for each in takes:
        fits(VENDORS[kind], target(kind), release(each))


@pytest.mark.parametrize("kind", VENDORS)
def test_every_option_is_on_the_page(kind: str) -> None:
    assert [name for name in VENDORS[kind].FACTS.options if f"`{name}`" not in PAGE] == []


@pytest.mark.parametrize("kind", VENDORS)
def test_what_a_target_needs_opens_it_and_without_it_a_line_says_so(kind: str, tmp_path: Path) -> None:
    opened = open_target(target(kind), tmp_path / "handed-over", {})
    ports: tuple[Target, TargetControls] = opened, opened

    assert ports == (opened, opened)
    assert opened.at_once is (kind in {"aws", "heroku", "digitalocean"})
    for name in VENDORS[kind].FACTS.required:
        with pytest.raises(SettingInvalid, match=f"target 'prod': `{name}` is needed"):
            open_target(
                spec(kind, **NEEDED[kind] | ({"region": ""} if name == "region" else {"options": ()})), tmp_path, {}
            )


@pytest.mark.parametrize(
    ("others", "line"),
    [
        ({"application": "--help"}, "`application` cannot be '--help'"),
        ({"application": "shop/../../x"}, "`application` cannot be 'shop/../../x'"),
        ({"application": "Shop"}, "`application` cannot be 'Shop'"),
        ({"application": ""}, "`application` cannot be ''"),
        ({"region": "eu west"}, "`region` cannot be 'eu west'"),
        ({"domain": "shop.example.org/admin"}, "`domain` cannot be 'shop.example.org/admin'"),
        ({"health_path": "health"}, "`health_path` cannot be 'health'"),
        ({"instances": (3, 2)}, "`instances` cannot be from 3 to 2"),
        ({"variables": (("A-B", "1"),)}, "'A-B' is no name of a variable"),
        ({"secrets": (("A", "$B"),)}, "'$B' is no name of a variable"),
        ({"options": (("registry", "r.example"), ("contxt", "x"))}, "there is no option `contxt`, only registry, "),
        ({"options": (("registry", "-r"),)}, "option `registry` cannot be '-r'"),
        ({"options": (("registry", "r.example"), ("context", "a b"))}, "option `context` cannot be 'a b'"),
    ],
)
def test_what_would_become_another_word_or_address_is_refused(
    others: dict[str, Any], line: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingInvalid) as refused:
        open_target(target("kubernetes", **others), tmp_path, {})
    assert refused.value.message.startswith(f"target 'prod': {line}")


def test_there_is_no_other_kind_of_target(tmp_path: Path) -> None:
    with pytest.raises(SettingInvalid, match="there is no kind of target 'mainframe'"):
        open_target(spec("mainframe"), tmp_path, {})


def test_nothing_says_how_a_package_without_a_command_is_started() -> None:
    wheel = release(ArtifactKind.WHEEL)
    silent = replace(wheel, artifact=replace(wheel.artifact, start=()))

    with pytest.raises(ArtifactUnfit, match="nothing says how shop is started"):
        command_of(spec("heroku"), silent)
    assert command_of(spec("heroku", command=("serve",)), silent) == ("serve",)


def test_a_release_is_called_by_its_number_and_what_it_is_made_of() -> None:
    assert label(release(number=12)) == f"r12-{DIGEST[:10]}"


def test_the_same_artifact_is_packed_to_the_same_bytes_and_npm_installs_it_by_itself(tmp_path: Path) -> None:
    package = tmp_path / "shop-1.2.0.tgz"
    package.write_bytes(b"a package")
    made = release(ArtifactKind.NPM, package)

    for packing in PACKINGS:
        first = packed(packing, spec("heroku"), made, tmp_path).archive.read_bytes()
        assert packed(packing, spec("heroku"), made, tmp_path).archive.read_bytes() == first
    manifest = source_files(spec("heroku"), made)["package.json"]
    assert isinstance(manifest, bytes) and json.loads(manifest)["dependencies"] == {"shop": "file:./shop-1.2.0.tgz"}


def test_files_of_a_site_are_found_without_links_out_of_it(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "a").mkdir(parents=True)
    (site / "a" / "x.css").write_text("x")
    (site / "index.html").write_text("i")
    (site / "passwd").symlink_to("/etc/passwd")

    sha1 = {"x": "11f6ad8ec52a2984abaafd7c3b516503785c2072", "i": "042dc4512fa3d391c5170cf3aa61e6a638f84342"}
    assert files_of(site) == (
        PackedFile(address="a/x.css", path=site / "a" / "x.css", sha1=sha1["x"], size=1),
        PackedFile(address="index.html", path=site / "index.html", sha1=sha1["i"], size=1),
    )
