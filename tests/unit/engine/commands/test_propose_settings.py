"""What `init` proposes for services on loopback."""

from __future__ import annotations

import tomllib

import pytest

from milepost.engine.commands.propose_settings import proposals, services_in
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


@pytest.mark.parametrize("compose", [COMPOSE, COMPOSE.replace('\n      - "55432:5432"', ' ["55432:5432"]')])
def test_the_settings_are_proposed_with_the_port_and_the_variable_of_the_project(compose: str) -> None:
    files = {"compose.yaml": compose, ".env.example": "DB_URL=postgres://u:p@localhost/app\n"}
    (found,) = proposals(files)
    assert "PostgreSQL at 127.0.0.1:55432" in found.says
    used = Settings.model_validate(tomllib.loads(found.text(accepted=True)))
    assert used.sandbox.network == ["127.0.0.1:55432"]
    assert used.surroundings.env == {"DB_URL": "postgres://u:p@localhost/app"}
    assert tomllib.loads(found.text(accepted=False)) == {"sandbox": {}, "surroundings": {"env": {}}}


def test_no_value_of_an_env_file_is_proposed() -> None:
    (found,) = proposals({"compose.yaml": COMPOSE, ".env": "DB_URL=postgres://u:secret@localhost:55432/app\n"})
    assert "secret" not in found.text(accepted=True) and "DB_URL" not in found.text(accepted=True)


def test_ignored_files_that_look_like_settings_of_one_machine_are_to_be_copied() -> None:
    ignored = (".env", "config/local.json", "settings_local.py", "debug.log", "cover.py,cover", "app.sqlite3")
    (found,) = proposals({}, ignored)
    used = Settings.model_validate(tomllib.loads(found.text(accepted=True)))
    assert used.workspace.copied == [".env", "config/local.json", "settings_local.py"]


def test_nothing_is_proposed_without_a_sign() -> None:
    assert proposals({"package.json": "{}"}, ("debug.log",)) == ()
