"""Which modules are a project's own business: neither the standard library nor what everybody knows."""

from __future__ import annotations

import sys

# A model knows how these are used, and a lesson about one would fit nearly every task.
_WELL_KNOWN_WORDS = """
    aiohttp altair anyio attr attrs authlib babel bcrypt bleach boto3 botocore bs4 cachetools celery certifi click
    colorama coverage cryptography cv2 dateutil django dotenv fastapi flask freezegun git greenlet gunicorn h11
    hypothesis httpcore httpx idna itsdangerous jinja2 jsonschema jwt keras loguru lxml markdown markupsafe
    matplotlib mock moto msgpack mypy_extensions networkx nltk nose numpy openai openpyxl orjson packaging pandas
    paramiko peewee pexpect pil pip pkg_resources plotly polars psutil psycopg psycopg2 pyarrow pydantic
    pydantic_settings pygments pymongo pymysql pytest pytest_asyncio pytz redis regex requests responses
    rest_framework rich ruamel scipy seaborn selenium setuptools simplejson six sklearn sortedcontainers spacy
    sphinx sqlalchemy sqlmodel starlette structlog sympy tabulate tenacity tensorflow textual toml tomli tomlkit
    torch torchvision tornado tqdm transformers trio typer typing_extensions tzlocal urllib3 uvicorn watchdog
    websocket websockets werkzeug wheel yaml yarl zope
"""
_WELL_KNOWN = frozenset(_WELL_KNOWN_WORDS.split())
_WELL_KNOWN_SCRIPT_WORDS = """
    react react-dom react-router react-router-dom redux vue svelte next nuxt angular rxjs express koa fastify axios
    lodash lodash-es moment dayjs date-fns jest vitest mocha chai sinon ava tap jquery typescript webpack vite
    rollup esbuild eslint prettier zod yup joi uuid chalk commander yargs dotenv cors helmet mongoose pg mysql
    mysql2 sqlite3 sequelize knex prisma graphql socket.io ws three d3 tailwindcss styled-components classnames
    immer zustand bluebird async underscore ramda node-fetch undici supertest playwright puppeteer cypress
"""
_WELL_KNOWN_SCRIPT = frozenset(_WELL_KNOWN_SCRIPT_WORDS.split())
_NODE_WORDS = """
    assert async_hooks buffer child_process cluster console crypto dgram dns events fs http http2 https inspector
    module net os path perf_hooks process punycode querystring readline repl stream string_decoder test timers tls
    tty url util v8 vm worker_threads zlib
"""
_NODE = frozenset(_NODE_WORDS.split())
_WELL_KNOWN_CRATES_WORDS = """
    std core alloc serde serde_json tokio anyhow thiserror clap regex rand log tracing futures reqwest hyper axum
    actix_web chrono itertools lazy_static once_cell rayon uuid url bytes proc_macro syn quote test
"""
_WELL_KNOWN_CRATES = frozenset(_WELL_KNOWN_CRATES_WORDS.split())


def is_own_python(module: str) -> bool:
    """Whether a module, as it is imported, is one of the project or of its own libraries; relative ones are."""
    top = module.partition(".")[0]
    return not top or (top not in sys.stdlib_module_names and top.lower() not in _WELL_KNOWN)


def is_own_script(target: str) -> bool:
    """The same for what a JavaScript or TypeScript file imports."""
    if target.startswith((".", "~/", "@/", "#")):
        return True
    top = target.partition("/")[0]
    if target.startswith("@"):
        return not target.startswith(("@types/", "@babel/", "@testing-library/", "@angular/", "@vue/", "@aws-sdk/"))
    return not target.startswith("node:") and top not in _NODE and top not in _WELL_KNOWN_SCRIPT


def is_own_go(target: str) -> bool:
    """The same for a Go package: the standard library has no dot in its first part."""
    return "." in target.partition("/")[0] and not target.startswith(("golang.org/", "google.golang.org/"))


def is_own_rust(target: str) -> bool:
    """The same for a Rust path."""
    return target.partition("::")[0] not in _WELL_KNOWN_CRATES
