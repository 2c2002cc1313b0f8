"""Services that tests reach on the machine's own loopback: their ports, and the signs of them in a project."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """`images`, `schemes` and `clients` are what a compose file, an address and a manifest call it."""

    name: str
    port: int
    images: tuple[str, ...]
    schemes: tuple[str, ...]
    clients: tuple[str, ...]


SERVICES = (
    Service(
        name="PostgreSQL",
        port=5432,
        images=("postgres", "postgis", "pgvector", "timescaledb"),
        schemes=("postgres", "postgresql"),
        clients=("psycopg", "psycopg2", "psycopg2-binary", "asyncpg", "pg", "postgres", "lib/pq", "pgx", "pg8000"),
    ),
    Service(
        name="MySQL",
        port=3306,
        images=("mysql", "mariadb"),
        schemes=("mysql", "mariadb"),
        clients=("pymysql", "mysqlclient", "aiomysql", "mysql2", "mysql", "go-sql-driver/mysql"),
    ),
    Service(
        name="Redis",
        port=6379,
        images=("redis", "valkey"),
        schemes=("redis", "valkey"),
        clients=("redis", "ioredis", "valkey", "go-redis"),
    ),
    Service(
        name="MongoDB",
        port=27017,
        images=("mongo",),
        schemes=("mongodb",),
        clients=("pymongo", "motor", "mongodb", "mongoose", "mongo-driver"),
    ),
    Service(
        name="RabbitMQ",
        port=5672,
        images=("rabbitmq",),
        schemes=("amqp",),
        clients=("pika", "aio-pika", "amqplib", "amqp091-go", "lapin"),
    ),
    Service(
        name="Elasticsearch",
        port=9200,
        images=("elasticsearch", "opensearch"),
        schemes=(),
        clients=("elasticsearch", "opensearch-py", "@elastic/elasticsearch"),
    ),
    Service(
        name="Memcached", port=11211, images=("memcached",), schemes=(), clients=("pymemcache", "pylibmc", "memjs")
    ),
)

_REFUSED = re.compile(
    r"(?i:refused|not permitted|permission denied|ECONNREFUSED|EPERM|EACCES|unreachable|\[Errno 1(?:11|3)?\])"
)
_BARE_REFUSAL = re.compile(r"ConnectionRefusedError|ECONNREFUSED|Connection refused")
_PORT = re.compile(r"(?:port[ =:]+|:)(?P<port>\d{2,5})(?!\d)")
_LOOPBACK = re.compile(r"127\.0\.0\.1|localhost|::1|0\.0\.0\.0")


def refused_service(text: str) -> Service | None:
    """The service on loopback that a text says could not be reached: by its own port, or by its client's words.

    Some only say that it was refused: then a trace tells by its calls and files what was asked.
    """
    lines = text.splitlines()
    for line in lines:
        if _REFUSED.search(line) and _LOOPBACK.search(line):
            for service in SERVICES:
                if re.search(rf"(?<!\d){service.port}(?!\d)", line):
                    return service
            if (port := _PORT.search(line)) and (named := _spoken_of(line)):
                return replace(named, port=int(port["port"]))
    return _traced(lines) if any(map(_BARE_REFUSAL.search, lines)) else None


def _traced(lines: list[str]) -> Service | None:
    """The service whose port a call names beside this machine, or in whose client a trace ends."""
    for service in SERVICES:
        call = re.compile(rf"(?:{_LOOPBACK.pattern})['\"]?\s*[,:]\s*(?:port\s*=\s*)?{service.port}(?!\d)")
        clients = "|".join(re.escape(client.replace("-", "_")) for client in service.clients)
        client = re.compile(rf"(?:site-packages|node_modules)/(?:{clients})(?:[/.]|-pool/)")
        if any(call.search(line) or client.search(line) for line in lines):
            return service
    return None


def _spoken_of(line: str) -> Service | None:
    """The service whose client's modules a line names; another port may be anybody's."""
    words = set(re.findall(r"[\w-]+", line.lower()))
    return next((service for service in SERVICES if words.intersection((*service.clients, *service.schemes))), None)


def settings_for(service: Service, variable: str = "") -> str:
    """The two settings that let a service through: the wall, and the variable that says where it is."""
    name = variable or "DATABASE_URL"
    return (
        f'[sandbox] network = ["127.0.0.1:{service.port}"] lets commands reach it, and [surroundings] '
        f'env = {{ {name} = "…" }} tells them where it is'
    )
