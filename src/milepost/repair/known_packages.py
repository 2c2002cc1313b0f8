"""The usual packages, by the name that code imports: the only names that are added without being asked about."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# What Python imports → the packages that provide it, the usual one first. A dotted name is a part of a namespace
# that several packages share. Names that are the same on both sides stand in PYTHON_SAME.
PYTHON: dict[str, tuple[str, ...]] = {
    "absl": ("absl-py",),
    "airflow": ("apache-airflow",),
    "apscheduler": ("APScheduler",),
    "argon2": ("argon2-cffi",),
    "attr": ("attrs",),
    "authlib": ("Authlib",),
    "azure.identity": ("azure-identity",),
    "azure.storage.blob": ("azure-storage-blob",),
    "babel": ("Babel",),
    "barcode": ("python-barcode",),
    "bleach": ("bleach",),
    "bs4": ("beautifulsoup4",),
    "cairo": ("pycairo",),
    "cairosvg": ("CairoSVG",),
    "chess": ("chess",),
    "confluent_kafka": ("confluent-kafka",),
    "consul": ("python-consul",),
    "Crypto": ("pycryptodome",),
    "Cryptodome": ("pycryptodomex",),
    "cv2": ("opencv-python", "opencv-python-headless", "opencv-contrib-python", "opencv-contrib-python-headless"),
    "cython": ("Cython",),
    "dash_bootstrap_components": ("dash-bootstrap-components",),
    "dateutil": ("python-dateutil",),
    "discord": ("discord.py",),
    "django": ("Django",),
    "django_filters": ("django-filter",),
    "dns": ("dnspython",),
    "docx": ("python-docx",),
    "dotenv": ("python-dotenv",),
    "elasticsearch_dsl": ("elasticsearch-dsl",),
    "email_validator": ("email-validator",),
    "engineio": ("python-engineio",),
    "faker": ("Faker",),
    "fitz": ("PyMuPDF",),
    "flask": ("Flask",),
    "flask_cors": ("Flask-Cors",),
    "flask_login": ("Flask-Login",),
    "flask_migrate": ("Flask-Migrate",),
    "flask_restful": ("Flask-RESTful",),
    "flask_sqlalchemy": ("Flask-SQLAlchemy",),
    "flask_wtf": ("Flask-WTF",),
    "freezegun": ("freezegun",),
    "git": ("GitPython",),
    "github": ("PyGithub",),
    "gitlab": ("python-gitlab",),
    "google.auth": ("google-auth",),
    "google.cloud.bigquery": ("google-cloud-bigquery",),
    "google.cloud.pubsub": ("google-cloud-pubsub",),
    "google.cloud.storage": ("google-cloud-storage",),
    "google.generativeai": ("google-generativeai",),
    "google.oauth2": ("google-auth",),
    "google.protobuf": ("protobuf",),
    "google_auth_oauthlib": ("google-auth-oauthlib",),
    "googleapiclient": ("google-api-python-client",),
    "grpc": ("grpcio",),
    "grpc_tools": ("grpcio-tools",),
    "igraph": ("igraph",),
    "imblearn": ("imbalanced-learn",),
    "IPython": ("ipython",),
    "jinja2": ("Jinja2",),
    "jose": ("python-jose",),
    "jwt": ("PyJWT",),
    "kafka": ("kafka-python",),
    "kazoo": ("kazoo",),
    "ldap": ("python-ldap",),
    "ldap3": ("ldap3",),
    "Levenshtein": ("Levenshtein", "python-Levenshtein"),
    "lxml": ("lxml",),
    "magic": ("python-magic",),
    "markdown": ("Markdown",),
    "markdown_it": ("markdown-it-py",),
    "markupsafe": ("MarkupSafe",),
    "memcache": ("python-memcached",),
    "mpl_toolkits": ("matplotlib",),
    "multipart": ("python-multipart",),
    "mysql.connector": ("mysql-connector-python",),
    "MySQLdb": ("mysqlclient",),
    "nacl": ("PyNaCl",),
    "netCDF4": ("netCDF4",),
    "oauth2client": ("oauth2client",),
    "odf": ("odfpy",),
    "OpenGL": ("PyOpenGL",),
    "OpenSSL": ("pyOpenSSL",),
    "opentelemetry.sdk": ("opentelemetry-sdk",),
    "osgeo": ("GDAL",),
    "paho": ("paho-mqtt",),
    "peewee": ("peewee",),
    "PIL": ("Pillow",),
    "pkg_resources": ("setuptools",),
    "pptx": ("python-pptx",),
    "progressbar": ("progressbar2",),
    "prometheus_client": ("prometheus-client",),
    "proto": ("proto-plus",),
    "psycopg2": ("psycopg2-binary", "psycopg2"),
    "pwnlib": ("pwntools",),
    "pyasn1": ("pyasn1",),
    "pydantic_settings": ("pydantic-settings",),
    "pylab": ("matplotlib",),
    "pymysql": ("PyMySQL",),
    "pyparsing": ("pyparsing",),
    "PyPDF2": ("PyPDF2",),
    "PyQt5": ("PyQt5",),
    "PyQt6": ("PyQt6",),
    "pytest_asyncio": ("pytest-asyncio",),
    "pytest_cov": ("pytest-cov",),
    "pytest_mock": ("pytest-mock",),
    "pythoncom": ("pywin32",),
    "pywt": ("PyWavelets",),
    "rest_framework": ("djangorestframework",),
    "rest_framework_simplejwt": ("djangorestframework-simplejwt",),
    "ruamel.yaml": ("ruamel.yaml",),
    "sentence_transformers": ("sentence-transformers",),
    "sentry_sdk": ("sentry-sdk",),
    "serial": ("pyserial",),
    "skimage": ("scikit-image",),
    "sklearn": ("scikit-learn",),
    "skopt": ("scikit-optimize",),
    "slack_sdk": ("slack-sdk",),
    "slugify": ("python-slugify",),
    "snappy": ("python-snappy",),
    "socketio": ("python-socketio",),
    "socks": ("PySocks",),
    "sphinx": ("Sphinx",),
    "sqlalchemy": ("SQLAlchemy",),
    "sqlalchemy_utils": ("SQLAlchemy-Utils",),
    "telegram": ("python-telegram-bot",),
    "tlz": ("toolz",),
    "typing_extensions": ("typing_extensions",),
    "unidecode": ("Unidecode",),
    "usb": ("pyusb",),
    "vcr": ("vcrpy",),
    "vlc": ("python-vlc",),
    "websocket": ("websocket-client",),
    "werkzeug": ("Werkzeug",),
    "wx": ("wxPython",),
    "Xlib": ("python-xlib",),
    "xlsxwriter": ("XlsxWriter",),
    "yaml": ("PyYAML",),
    "zmq": ("pyzmq",),
    "zope.interface": ("zope.interface",),
}

PYTHON_SAME = _words(
    """
    aiofiles aiohttp aiosqlite alembic altair anthropic anyio arrow asgiref asyncpg attrs bcrypt black blinker bokeh
    boto3 botocore bottle cachetools celery certifi cffi chardet charset_normalizer click cloudpickle colorama
    coverage cryptography dash dask datasets decorator deepdiff docker docopt docutils elasticsearch environs falcon
    fastapi fastavro feedparser filelock flake8 fsspec gensim geopandas gevent greenlet gunicorn h5py httptools
    httpx humanize hypothesis idna inflect isort itsdangerous jax jedi joblib jsonpatch jsonschema keras keyring
    langchain lightgbm litellm locust loguru lz4 mako marshmallow matplotlib mccabe mistune mock mongoengine moto
    msgpack mypy natsort networkx nltk nox numba numpy oauthlib openai openpyxl orjson packaging pandas paramiko
    parso passlib patsy pathspec pendulum pexpect pika platformdirs playwright plotly pluggy polars prettytable
    prompt_toolkit psutil psycopg pyarrow pydantic pydub pyflakes pygame pygments pylint pymongo pyodbc pyperclip
    pytest pytz pyvista qrcode rapidfuzz redis regex reportlab requests responses respx rich rq ruff s3fs scapy
    schedule scipy scrapy seaborn selenium setuptools shapely simplejson six sortedcontainers soupsieve sqlmodel
    sqlparse starlette statsmodels streamlit structlog sympy tabulate tenacity tensorboard tensorflow termcolor
    textual tiktoken tinydb tokenizers toml tomli tomlkit toolz torch torchaudio torchvision tornado tox tqdm
    transformers trio twisted typeguard typer tzdata tzlocal ujson urllib3 uvicorn uvloop virtualenv wandb watchdog
    watchfiles websockets wrapt xarray xgboost xmltodict yarl zstandard
    """
)

# What was in the standard library of some Python, or will be: never a package of that name.
PYTHON_STANDARD_ELSEWHERE = _words(
    """
    annotationlib asynchat asyncore binhex cgi cgitb chunk compression crypt distutils dummy_threading formatter
    imghdr imp macpath mailcap msilib nis nntplib ossaudiodev parser pipes smtpd sndhdr spwd sunau symbol telnetlib
    tomllib uu xdrlib zoneinfo
    """
)

NODE = _words(
    """
    @apollo/client @apollo/server @aws-sdk/client-s3 @babel/core @babel/preset-env @emotion/react @emotion/styled
    @hapi/hapi @nestjs/common @nestjs/core @prisma/client @reduxjs/toolkit @sentry/node @tanstack/react-query
    @testing-library/jest-dom @testing-library/react @testing-library/user-event @types/express @types/jest
    @types/node @types/react @vitejs/plugin-react @vitest/coverage-v8 ajv ava axios bcrypt bcryptjs body-parser chai
    chalk cheerio chokidar classnames clsx commander compression cookie-parser cors cross-env d3 date-fns dayjs
    debug dotenv ejs eslint execa express express-validator fast-check fastify formik fs-extra glob got graphql
    handlebars helmet immer ioredis jest jest-environment-jsdom joi jquery js-yaml jsdom jsonwebtoken knex koa
    lodash lodash-es lru-cache luxon mariadb marked mime minimatch minimist mkdirp mobx mocha moment mongodb
    mongoose morgan multer mysql2 nanoid next nock node-fetch nodemailer nodemon nunjucks nyc ora p-limit passport
    pg pino playwright prettier prisma prop-types proxyquire puppeteer pug qs ramda react react-dom react-hook-form
    react-redux react-router react-router-dom redis redux redux-thunk reselect rimraf rxjs sass semver sequelize
    sharp sinon socket.io socket.io-client sqlite3 supertest swr tailwindcss three ts-jest ts-node tslib tsx typeorm
    typescript underscore undici uuid validator vite vitest vue vue-router vuex winston ws xml2js yaml yargs yup zod
    zustand better-sqlite3 async bluebird
    """
)

NODE_BUILT_IN = _words(
    """
    assert async_hooks buffer child_process cluster console constants crypto dgram diagnostics_channel dns domain
    events fs http http2 https inspector module net os path perf_hooks process punycode querystring readline repl
    sea sqlite stream string_decoder sys test timers tls trace_events tty url util v8 vm wasi worker_threads zlib
    """
)

# What Rust code names → the crate and the versions that its usual examples are written for.
CRATES: dict[str, tuple[str, str]] = {
    "anyhow": ("anyhow", "1"),
    "async_trait": ("async-trait", "0.1"),
    "axum": ("axum", "0.8"),
    "base64": ("base64", "0.22"),
    "bytes": ("bytes", "1"),
    "chrono": ("chrono", "0.4"),
    "clap": ("clap", "4"),
    "criterion": ("criterion", "0.5"),
    "crossbeam": ("crossbeam", "0.8"),
    "csv": ("csv", "1"),
    "dashmap": ("dashmap", "6"),
    "either": ("either", "1"),
    "env_logger": ("env_logger", "0.11"),
    "futures": ("futures", "0.3"),
    "hex": ("hex", "0.4"),
    "hyper": ("hyper", "1"),
    "indexmap": ("indexmap", "2"),
    "itertools": ("itertools", "0.14"),
    "lazy_static": ("lazy_static", "1"),
    "libc": ("libc", "0.2"),
    "log": ("log", "0.4"),
    "memchr": ("memchr", "2"),
    "num": ("num", "0.4"),
    "once_cell": ("once_cell", "1"),
    "parking_lot": ("parking_lot", "0.12"),
    "petgraph": ("petgraph", "0.6"),
    "proptest": ("proptest", "1"),
    "rand": ("rand", "0.8"),
    "rayon": ("rayon", "1"),
    "regex": ("regex", "1"),
    "reqwest": ("reqwest", "0.12"),
    "rusqlite": ("rusqlite", "0.32"),
    "semver": ("semver", "1"),
    "serde": ("serde", "1"),
    "serde_json": ("serde_json", "1"),
    "serde_yaml": ("serde_yaml", "0.9"),
    "sha2": ("sha2", "0.10"),
    "smallvec": ("smallvec", "1"),
    "sqlx": ("sqlx", "0.8"),
    "tempfile": ("tempfile", "3"),
    "thiserror": ("thiserror", "1"),
    "time": ("time", "0.3"),
    "tokio": ("tokio", "1"),
    "toml": ("toml", "0.8"),
    "tower": ("tower", "0.5"),
    "tracing": ("tracing", "0.1"),
    "tracing_subscriber": ("tracing-subscriber", "0.3"),
    "url": ("url", "2"),
    "uuid": ("uuid", "1"),
    "walkdir": ("walkdir", "2"),
}
