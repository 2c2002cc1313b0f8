"""npm, Rust and images: what is run for them, as data."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from milepost.core.errors import NothingToPackage, PackageFailed
from milepost.ship.builders.image import ImageKind
from milepost.ship.builders.javascript_packages import install_step, locked_components
from milepost.ship.builders.npm import NpmKind, programs_of
from milepost.ship.builders.rust import RustKind, machine_target
from milepost.ship.builders.static import StaticKind
from milepost.ship.oci_layout import config_of
from milepost.ship.recipe import Component, Options, Step
from tests.unit.ship.sources import source

CARGO = {"Cargo.toml": '[package]\nname = "tool"\n', "src/main.rs": "", "Cargo.lock": "version = 3\n"}
QUIET = ("--no-audit", "--no-fund", "--loglevel=error")
PACK = Step(argv=("npm", "pack", "--pack-destination", "{out}"), cwd="{tree}")


def test_an_npm_package_without_scripts_is_packed_without_any_other() -> None:
    assert NpmKind().recipe(source({"package.json": '{"name": "a", "version": "1.0.0"}'})).build == (PACK,)


@pytest.mark.parametrize(
    ("lock", "install"),
    [
        ("package-lock.json", ("npm", "ci", "--include=dev", "--ignore-scripts", *QUIET)),
        ("README.md", ("npm", "install", "--include=dev", "--ignore-scripts", *QUIET)),
        ("pnpm-lock.yaml", ("pnpm", "install", "--frozen-lockfile", "--ignore-scripts")),
        ("yarn.lock", ("yarn", "install", "--frozen-lockfile", "--ignore-scripts", "--non-interactive")),
    ],
)
def test_what_a_script_of_a_package_needs_is_installed_first_and_runs_nothing(
    lock: str, install: tuple[str, ...]
) -> None:
    made = NpmKind().recipe(source({"package.json": '{"scripts": {"prepack": "tsc"}}', lock: ""}))
    assert made.build == (Step(argv=install, tool=install[0], cwd="{tree}"), PACK)
    assert made.build[0] == install_step((lock,))


def test_the_program_of_a_packages_own_name_comes_first() -> None:
    assert programs_of({"name": "@a/tool", "bin": {"a": "a.js", "tool": "b.js"}}) == ("tool", "a")
    assert programs_of({"name": "@a/tool", "bin": "cli.js"}) == ("tool",)
    assert programs_of({"name": "a", "main": "a.js"}) == ()


def test_a_site_with_a_build_is_built_without_a_network() -> None:
    made = StaticKind().recipe(source({"package.json": '{"scripts": {"build": "vite build"}}'}))
    assert [(step.argv[:2], step.tool) for step in made.build] == [(("npm", "install"), "npm"), (("npm", "run"), "")]


def test_a_rust_program_is_built_offline_for_a_target_and_names_no_folder() -> None:
    made = RustKind().recipe(source(CARGO))
    assert [step.tool for step in made.ready] == ["cargo"]
    (built,) = made.build
    assert built.argv == (
        *("cargo", "build", "--release", "--locked", "--bin", "tool"),
        *("--target", machine_target()),
    )
    assert (built.tool, built.env["CARGO_NET_OFFLINE"]) == ("", "true")
    assert "--remap-path-prefix={tree}=." in built.env["RUSTFLAGS"]


def test_a_rust_program_without_a_lock_file_is_refused() -> None:
    with pytest.raises(PackageFailed, match=r"no Cargo\.lock"):
        RustKind().recipe(source({name: text for name, text in CARGO.items() if name != "Cargo.lock"}))


def test_an_image_of_a_rust_program_needs_no_base_and_offers_a_dockerfile_of_two_stages() -> None:
    made = ImageKind().recipe(source(CARGO))
    assert made.build == RustKind().recipe(source(CARGO)).build
    text = made.offered["Dockerfile"].decode()
    assert text.count("FROM ") == 2
    assert text.endswith('USER 65534:65534\nENTRYPOINT ["/usr/local/bin/tool"]\n')
    assert b"node_modules\n" in made.offered[".dockerignore"]
    assert "Dockerfile" not in ImageKind().recipe(source({**CARGO, "Dockerfile": ""})).offered


def test_an_image_of_python_without_a_base_says_what_to_name() -> None:
    with pytest.raises(PackageFailed, match="stands on one with Python") as refused:
        ImageKind().recipe(source({"app/__init__.py": ""}))
    assert "base in [package]" in refused.value.advice


def test_a_site_alone_is_no_image() -> None:
    with pytest.raises(NothingToPackage, match="no program here"):
        ImageKind().recipe(source({"index.html": ""}))


def test_a_lock_file_tells_the_packages_that_are_not_for_development_alone() -> None:
    lock = {
        "packages": {
            "": {"name": "own"},
            "node_modules/@a/b": {"version": "1.0.0", "license": "MIT", "integrity": "sha512-AAEC"},
            "node_modules/c": {"version": "2.0.0", "dev": True},
        }
    }
    assert locked_components(json.dumps(lock)) == (
        Component(purl="pkg:npm/%40a/b@1.0.0", name="@a/b", version="1.0.0", licence="MIT", digest="sha512:000102"),
    )


def test_an_image_of_an_npm_package_has_its_modules_and_starts_its_program_on_the_base(tmp_path: Path) -> None:
    manifest = '{"name": "srv", "version": "1.0.0", "bin": "./cli.js"}'
    tree, out, draft = (tmp_path / name for name in ("tree", "out", "draft"))
    for folder in (tree, out / "app/node_modules/srv", draft, tmp_path / "package"):
        folder.mkdir(parents=True)
    for place in (tmp_path / "package/package.json", out / "app/package.json", out / "app/node_modules/srv/cli.js"):
        place.write_text(manifest)
    with tarfile.open(out / "srv-1.0.0.tgz", "w:gz") as archive:
        archive.add(tmp_path / "package", "package")
    with tarfile.open(tmp_path / "base.tar", "w") as archive:
        archive.add(out / "app/package.json", "usr/bin/node")
    tree_of = source({"package.json": manifest}, options=Options(base=tmp_path / "base.tar"))

    made = ImageKind().collect(tree_of, tree, out, draft)
    assert (made.name, made.version, made.note) == ("srv", "1.0.0", "on base.tar")
    assert made.start == ("node", "/app/node_modules/srv/cli.js")
    assert config_of(made.path)["config"]["Entrypoint"] == list(made.start)
    names: set[str] = set()
    for blob in (made.path / "blobs/sha256").iterdir():
        if blob.read_bytes()[:2] == b"\x1f\x8b":
            with tarfile.open(blob) as archive:
                names |= {member.name for member in archive if member.isreg()}
    assert names == {"usr/bin/node", "app/package.json", "app/node_modules/srv/cli.js"}
    assert [file.name for file in draft.iterdir()] == ["image"], "nothing but the image is left"
