"""What `init` proposes for services on loopback."""

from __future__ import annotations

import tomllib

import pytest

from milepost.engine.commands.propose_services import proposed_settings, services_in
from milepost.engine.project.settings.settings import Settings

COMPOSE = 'services:\n  db:\n    image: postgres:16-alpine\n    ports:\n      - "55432:5432"\n'


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("compose.yaml", COMPOSE, ["PostgreSQL"]),
        ("docker-compose.yml", "  cache:\n    image: docker.io/library/redis:7\n", ["Redis"]),
        (".env.example", "DATABASE_URL=postgresql+asyncpg://u:p@localhost/app\n", ["PostgreSQL"]),
        ("pyproject.toml", '[project]\ndependencies = ["psycopg[binary]>=3", "redis"]\n', ["PostgreSQL", "Redis"]),
        ("package.json", '{"dependencies": {"ioredis": "^5", "pg-promise-lite": "1"}}', ["Redis"]),
        ("go.mod", "require github.com/lib/pq v1.10.9\n", ["PostgreSQL"]),
        ("pyproject.toml", '[project]\nname = "fakeredis-notes"\n', []),
    ],
)
def test_signs_of_a_service_are_found(name: str, text: str, expected: list[str]) -> None:
    assert [service.name for service in services_in({name: text})] == expected


def test_the_two_settings_are_proposed_with_the_port_and_the_variable_of_the_project() -> None:
    files = {"compose.yaml": COMPOSE, ".env": "DB_URL=postgres://u:secret@localhost:55432/app\n"}
    told = proposed_settings(files)
    assert '# network = ["127.0.0.1:55432"]' in told and '# DB_URL = "…"' in told and "secret" not in told
    used = tomllib.loads("\n".join(line.removeprefix("# ") for line in told.splitlines() if "network wall" not in line))
    assert Settings.model_validate(used).sandbox.network == ["127.0.0.1:55432"]
    example = {".env.example": "DB_URL=postgres://u:p@localhost/app\n", **files}
    assert '# DB_URL = "postgres://u:p@localhost/app"' in proposed_settings(example)
    assert proposed_settings({"package.json": "{}"}) == ""
