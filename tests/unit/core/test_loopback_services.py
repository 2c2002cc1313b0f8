"""Services on loopback that could not be reached, by what a text says of them."""

from __future__ import annotations

import pytest

from milepost.core.loopback_services import refused_service


@pytest.mark.parametrize(
    ("line", "name", "port"),
    [
        (
            "psycopg.OperationalError: connection failed: connection at 127.0.0.1, port 54329 failed: refused",
            "PostgreSQL",
            54329,
        ),
        (
            "redis.exceptions.ConnectionError: Error 111 connecting to localhost:6380. Connection refused.",
            "Redis",
            6380,
        ),
    ],
)
def test_a_service_on_another_port_is_known_by_the_words_of_its_client(line: str, name: str, port: int) -> None:
    found = refused_service(line)
    assert found is not None and (found.name, found.port) == (name, port)


@pytest.mark.parametrize(
    ("trace", "name"),
    [
        ('    with socket.create_connection(("127.0.0.1", 5432), timeout=5):', "PostgreSQL"),
        ('  File "/e/lib/python3.11/site-packages/pymysql/connections.py", line 648, in connect', "MySQL"),
        ("    at /e/node_modules/pg-pool/index.js:45:11", "PostgreSQL"),
    ],
)
def test_a_refusal_without_a_place_is_known_by_the_call_or_the_client_in_its_trace(trace: str, name: str) -> None:
    found = refused_service(f"{trace}\nConnectionRefusedError: [Errno 111] Connection refused")
    assert found is not None and found.name == name
    assert refused_service(trace) is None, "nothing was refused"
    assert refused_service("ConnectionRefusedError: [Errno 111] Connection refused") is None


def test_a_server_of_the_project_itself_is_no_service() -> None:
    assert refused_service("Error: connect ECONNREFUSED 127.0.0.1:3000") is None
