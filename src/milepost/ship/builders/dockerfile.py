"""A Dockerfile in two stages and a .dockerignore, for who lets a daemon build images."""

from __future__ import annotations

import json

from milepost.core.shipping import ArtifactKind
from milepost.ship.builders.generated_pyproject import generated_pyproject
from milepost.ship.builders.npm import programs_of
from milepost.ship.kinds import rust_binaries
from milepost.ship.recipe import Source
from milepost.sources.parse_documents import json_of, string, table, toml_of

IGNORED = (
    ".git",
    ".milepost",
    ".venv",
    "venv",
    "node_modules",
    "target",
    "dist",
    "__pycache__",
    "*.pyc",
    ".env",
    ".env.*",
)
_NOBODY = "USER 65534:65534"


def offered(source: Source, kind: ArtifactKind) -> dict[str, bytes]:
    """Both files by their names, without those that the project has."""
    files = {"Dockerfile": dockerfile_text(source, kind), ".dockerignore": "\n".join(IGNORED) + "\n"}
    if "Containerfile" in source.files:
        del files["Dockerfile"]
    return {name: text.encode() for name, text in files.items() if name not in source.files}


def dockerfile_text(source: Source, kind: ArtifactKind) -> str:
    """The Dockerfile of a project: one stage builds, the other has what was built and no tools."""
    match kind:
        case ArtifactKind.RUST:
            name = next(iter(rust_binaries(source.files, source.read)), source.name)
            lines = [
                "FROM rust:1-alpine AS build",
                "RUN apk add --no-cache musl-dev",
                "WORKDIR /build",
                "COPY . .",
                f"RUN cargo build --release --locked --bin {name}",
                "",
                "FROM scratch",
                f"COPY --from=build /build/target/release/{name} /usr/local/bin/{name}",
                _NOBODY,
                f"ENTRYPOINT {json.dumps([f'/usr/local/bin/{name}'])}",
            ]
        case ArtifactKind.NPM:
            package = json_of(source.read("package.json") or b"")
            how = "ci" if "package-lock.json" in source.files else "install"
            program = next(iter(programs_of(package)), "")
            declared = package.get("bin")
            path = declared if isinstance(declared, str) else table(declared).get(program) or package.get("main")
            lines = [
                "FROM node:22-slim AS build",
                "WORKDIR /app",
                "COPY package*.json ./",
                f"RUN npm {how} --omit=dev --ignore-scripts",
                "COPY . .",
                "",
                "FROM node:22-slim",
                "WORKDIR /app",
                "COPY --from=build /app /app",
                _NOBODY,
                f"ENTRYPOINT {json.dumps(['node', string(path) or 'index.js'])}",
            ]
        case _:
            lines = [
                "FROM python:3-slim AS build",
                "WORKDIR /build",
                "COPY . .",
                "RUN python -m venv /app && /app/bin/pip install --no-cache-dir .",
                "",
                "FROM python:3-slim",
                "COPY --from=build /app /app",
                _NOBODY,
                f"ENTRYPOINT {json.dumps([f'/app/bin/{_script(source)}'])}",
            ]
    return "\n".join(lines) + "\n"


def _script(source: Source) -> str:
    manifest = toml_of(generated_pyproject(source).get("pyproject.toml") or source.read("pyproject.toml") or b"")
    scripts = table(manifest, "project", "scripts")
    name = string(table(manifest, "project").get("name"))
    return name if name in scripts or not scripts else next(iter(scripts))
