"""What manifests say of projects: their names, who is below them, whom they depend on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from milepost.sources.manifests.project import Manifest
from milepost.sources.manifests.reading import READERS, read_manifest

PYPROJECT = """
[project]
name = "Acme_API"
dependencies = ["acme.core>=1", "httpx[http2]; python_version > '3'"]
[project.optional-dependencies]
web = ["acme-web"]
[dependency-groups]
dev = ["acme-testing", {include-group = "lint"}]
[tool.uv.workspace]
members = ["packages/*", 7]
exclude = ["packages/old"]
[tool.uv.sources]
acme-core = { workspace = true }
shared = { path = "../shared" }
elsewhere = { git = "https://example.com/x" }
"""
POETRY = """
[tool.poetry]
name = "api"
[tool.poetry.dependencies]
core = { path = "../core", develop = true }
[tool.poetry.group.dev.dependencies]
testing = "*"
"""
CARGO = """
[package]
name = "app"
[workspace]
members = ["crates/*"]
exclude = ["crates/old"]
[dependencies]
core = { path = "../core" }
serde = "1"
inherited = { workspace = true, package = "real" }
[target.'cfg(unix)'.build-dependencies]
tool = { path = "tools/tool" }
"""
GO_MOD = """
module example.com/acme/api // the API
go 1.22
require example.com/acme/core v1.0.0
require (
    "example.com/acme/log" v0.1.0 // indirect
)
replace example.com/acme/core => ../core
replace example.com/x v1 => example.com/y v2
"""
PACKAGE = {
    "name": "@acme/web",
    "workspaces": ["packages/*", "!packages/old"],
    "dependencies": {"@acme/core": "workspace:*", "left": "npm:@acme/right@^1", "local": "file:../local"},
    "devDependencies": {"packed": "file:../packed.tgz"},
}


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (
            "pyproject.toml",
            PYPROJECT,
            Manifest(
                kind="python",
                name="Acme_API",
                members=("packages/*",),
                left_out=("packages/old",),
                needs=("acme-core", "httpx", "acme-web", "acme-testing", "shared"),
                paths=("../shared",),
            ),
        ),
        (
            "pyproject.toml",
            POETRY,
            Manifest(kind="python", name="api", needs=("core", "testing"), paths=("../core",)),
        ),
        (
            "package.json",
            json.dumps(PACKAGE),
            Manifest(
                kind="javascript",
                name="@acme/web",
                members=("packages/*",),
                left_out=("packages/old",),
                needs=("@acme/core", "@acme/right", "local", "packed"),
                paths=("../local",),
            ),
        ),
        (
            "package.json",
            '{"workspaces": {"packages": ["a", "a", " "], "nohoist": ["b"]}}',
            Manifest(kind="javascript", members=("a",)),
        ),
        (
            "pnpm-workspace.yaml",
            "packages:\n  - 'apps/*'\n  - '!apps/old'  # gone\ncatalog:\n  a: 1\n",
            Manifest(kind="javascript", members=("apps/*",), left_out=("apps/old",)),
        ),
        ("lerna.json", '{"packages": ["modules/*"]}', Manifest(kind="javascript", members=("modules/*",))),
        (
            "Cargo.toml",
            CARGO,
            Manifest(
                kind="rust",
                name="app",
                members=("crates/*", "../core", "tools/tool"),
                left_out=("crates/old",),
                needs=("real",),
                paths=("../core", "tools/tool"),
            ),
        ),
        (
            "go.mod",
            GO_MOD,
            Manifest(
                kind="go",
                name="example.com/acme/api",
                needs=("example.com/acme/core", "example.com/acme/log"),
                paths=("../core",),
            ),
        ),
        (
            "go.work",
            "go 1.22\nuse ./api\nuse (\n\t./web // the web\n\n\t./core\n)\n",
            Manifest(kind="go", members=("./api", "./web", "./core")),
        ),
    ],
)
def test_a_manifest_says(file: str, content: str, said: Manifest) -> None:
    assert read_manifest(file, content.encode()) == said
    assert read_manifest(file, b"\xef\xbb\xbf" + content.encode()) == said, "a mark at the start means nothing"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("package.json", b"{"),
        ("package.json", b"[" * 100_000),
        ("package.json", b"\xff\xfe"),
        ("pyproject.toml", b"a = ["),
        ("Cargo.toml", b"a = " + b"[" * 100_000),
        ("pnpm-workspace.yaml", b"packages: [a\n - b: {"),
        ("pnpm-workspace.yaml", b"packages: !!python/object/apply:os.system ['true']"),
        ("pnpm-workspace.yaml", b"[" * 100_000),
    ],
)
def test_a_manifest_that_cannot_be_read_is_told(file: str, content: bytes) -> None:
    read = read_manifest(file, content)
    assert read.problem.startswith(f"{file} cannot be read: ")
    assert not read.members and not read.name


@pytest.mark.parametrize("file", list(READERS))
@given(
    content=st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "workspaces", "packages", "dependencies", "project", "tool", "a"]), inner
            )
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_whatever_a_manifest_holds_reading_it_does_not_fail(file: str, content: bytes) -> None:
    read = read_manifest(file, content)
    assert all(isinstance(one, str) for one in (read.name, *read.members, *read.needs, *read.paths))
