"""Which paths are tests, and which files say how tests are run."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

JAVASCRIPT = frozenset({".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts"})
PYTHON = frozenset({".py"})
CODE = (
    JAVASCRIPT
    | PYTHON
    | frozenset(
        {".go", ".rs", ".java", ".kt", ".kts", ".scala", ".groovy", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh"}
        | {".rb", ".php", ".cs", ".fs", ".swift", ".m", ".ex", ".exs", ".sh", ".bash", ".bats", ".pl", ".t", ".lua"}
        | {".dart", ".zig", ".jl", ".r", ".vue", ".svelte"}
    )
)

_TEST_FOLDER = re.compile(
    r"tests?|__tests?__|__snapshots__|__mocks__|__fixtures__|fixtures|cassettes|testdata"
    r"|test[-_]?(utils?|helpers?|support|data|cases)"
    r"|.+[-_.]tests|tests[-_.].+|(unit|integration|functional|system|acceptance|smoke|e2e|end2end|api|ui)[-_.]?tests?"
)
_CAMEL_TESTS = re.compile(r".*[a-z0-9]Tests")  # MyAppTests/, of Swift and C#
_SPEC_FOLDERS = frozenset({"spec", "specs", "cypress", "e2e"})
_PROSE = frozenset({".md", ".rst", ".adoc"})
_SHOWN = frozenset({".txt", ".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp"})
_TEST_NAME = re.compile(
    r"""
      test_[^/]*\.(py|c|cc|cpp|cxx|rb|jl)        # Python's, and C's habit
    | [^/]*_tests?\.(py|go|c|cc|cpp|cxx|rb|exs|dart|rs)
    | tests?\.(py|rs|c|cc|cpp|cxx)               # Django's tests.py, Rust's `mod tests;`
    | conftest\.py
    | [^/]*[.\-_](test|spec)\.[cm]?[jt]sx?
    | tests?\.[cm]?[jt]sx?
    | [^/]*_spec\.(rb|lua)
    | [^/]*\.(snap|ambr|bats)
    | [^/]*Tests?\.(java|kt|scala|groovy|cs|php|swift)
    | [^/]*Spec\.(groovy|scala|kt|hs)
    """,
    re.VERBOSE,
)

_ENVIRONMENTS = frozenset({".venv", "venv", "node_modules", "site-packages"})

_SETTING_NAME = re.compile(
    r"""
      milepost\.toml
    # Python
    | \.?pytest\.(ini|toml) | tox\.(ini|toml) | setup\.(cfg|py) | pyproject\.toml | noxfile\.py | conftest\.py
    | (site|user)customize\.py | .*\.pth | (ruff|mypy|pyrightconfig|pylintrc|setup_tests)\.(toml|ini|json|cfg|py)
    | pylintrc
    # JavaScript
    | package\.json | (deno|bunfig|turbo|nx|lerna|project|angular|biome|rush)\.(jsonc?|toml) | pnpm-workspace\.yaml
    | (ts|js)config([.\-][\w.\-]+)?\.json | karma\.conf\.[cm]?[jt]s | gulpfile.* | gruntfile.* | jakefile.*
    | (jest|vitest|vite|karma|playwright|cypress|ava|wdio|mocha|babel|webpack|rollup|esbuild|swc|tsup|metro|eslint|c8)
      ([.\-][\w\-]+)*\.(config|conf|setup|workspace|preset)\.([cm]?[jt]s|json|ya?ml)
    | setup-?tests?\.[cm]?[jt]sx?
    # make and what does the same
    | (gnu)?makefile(\..*)? | .*\.(mk|mak|make) | \.?justfile | .*\.just | taskfile(\.[\w.]+)?\.ya?ml | rakefile
    | magefile\.go | sconstruct | sconscript | dodo\.py | fabfile\.py | invoke\.ya?ml | earthfile | tiltfile
    | (build|workspace|module)\.bazel
    # other languages
    | cargo\.toml | build\.rs | (nextest|clippy|rustfmt)\.toml | rust-toolchain(\.toml)? | go\.work(\.sum)?
    | phpunit\.xml(\.dist)? | phpstan\.neon(\.dist)? | composer\.json | pest\.php | testng\.xml
    | junit-platform\.properties | gradle\.properties | .*\.runsettings | global\.json | nuget\.config
    | directory\.build\.(props|targets) | ctest(config|custom|testfile)\.cmake | dart_test\.yaml
    # what runs them all
    | jenkinsfile | azure-pipelines\.ya?ml | bitbucket-pipelines\.ya?ml | (appveyor|codecov|cloudbuild)\.ya?ml
    | mise\.toml | devbox\.json | flake\.nix | shell\.nix | lefthook\.ya?ml
    """,
    re.VERBOSE,
)
# A build that says what belongs to the product in the same lines as how it is tested.
_BUILD_NAME = re.compile(
    r"setup\.py|cmakelists\.txt|.*\.cmake|meson(\.build|_options\.txt|\.options)|configure(\.ac|\.in)?|.*\.(am|m4)|pom\.xml"
    r"|(build|settings|init)\.gradle(\.kts)?|build\.sbt|.*\.(cs|fs|vb)proj|.*\.sln|package\.swift|mix\.exs|rebar\.config"
    r"|pubspec\.yaml|build\.zig(\.zon)?|.*\.cabal|stack\.yaml|project\.toml|manage\.py|pnpm-workspace\.yaml|binding\.gyp"
)
# What a product is made of beside its source; a package manager reads it.
_NEEDS_NAME = re.compile(
    r"go\.(mod|sum)|.*[.\-]lock(\.json|b)?|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|pipfile(\.lock)?|gemfile"
    r"|.*\.gemspec|(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in)|environment\.ya?ml|py\.typed|manifest\.in"
)
_UNIMPORTANT = frozenset(
    {".gitignore", ".gitkeep", ".keep", ".editorconfig", ".mailmap", ".npmignore", ".dockerignore"}
)
_EXAMPLE = re.compile(r"\.env\.(example|sample|template|dist)")
_PROSE_NAME = re.compile(
    r"(readme|change(log|s)|history|news|licen[sc]e|copying|notice|authors|contributors|contributing|code_of_conduct|security"
    r"|todo|roadmap|credits|thanks|maintainers|codeowners)([-_.].*)?"
)
_DOCS = frozenset({"doc", "docs", "documentation", "changelog.d", "newsfragments", ".changeset"})


@lru_cache(maxsize=100_000)
def is_test_path(path: str) -> bool:
    """Whether a file is a test, or code or data that only tests use; prose beside them is not."""
    *folders, name = path.rstrip("/").split("/")
    if not name or suffix(name) in _PROSE:
        return False
    if is_test_name(name) or any(map(is_test_folder, folders)):
        return True
    return bool(_SPEC_FOLDERS.intersection(map(folded, folders))) and suffix(name) in CODE


def is_test_name(name: str) -> bool:
    """Whether a file is a test, or a snapshot of one, by its name alone."""
    return any(_TEST_NAME.fullmatch(one) for one in (name, name.strip()))


def is_test_folder(name: str) -> bool:
    """Whether all that is below a folder of this name is there for tests."""
    return _TEST_FOLDER.fullmatch(folded(name)) is not None or _CAMEL_TESTS.fullmatch(name) is not None


@lru_cache(maxsize=100_000)
def is_test_setting(path: str) -> bool:
    """Whether a file can say which tests are run, and with what: by its name, or since tools and git keep it hidden."""
    parts = [folded(part) for part in path.rstrip("/").split("/")]
    if suffix(parts[-1]) in _PROSE:
        return False
    if _SETTING_NAME.fullmatch(parts[-1]) or is_build_setting(path):
        return True
    return any(part.startswith(".") for part in parts) and not is_prose(path)


def is_of_environment(path: str) -> bool:
    """Whether a file lies where installed packages and programs do: what is there runs whenever anything is proven."""
    parts = [folded(part) for part in path.split("/")]
    return not _ENVIRONMENTS.isdisjoint(parts) or parts[-1] == "pyvenv.cfg"


def is_build_setting(path: str) -> bool:
    """Whether a file says both what a product is built from and how it is tested, and cannot be split."""
    return _BUILD_NAME.fullmatch(folded(name_of(path))) is not None


def is_tool_setting_by_form(path: str) -> bool:
    """Whether a file is called like a setting of some tool, `x.config.js`, as a product's own source may be, too."""
    return re.fullmatch(r".+\.config\.([cm]?[jt]s|json|ya?ml|toml)", folded(name_of(path))) is not None


def is_list_of_needs(path: str) -> bool:
    """Whether a file says which packages a product needs, and nothing about its tests."""
    return _NEEDS_NAME.fullmatch(folded(name_of(path))) is not None


def is_prose(path: str) -> bool:
    """Whether a file is there for people to read: no run depends on it unless it was seen to open it."""
    *folders, name = [folded(part) for part in path.rstrip("/").split("/")]
    if name in _UNIMPORTANT or _EXAMPLE.fullmatch(name) or suffix(name) in _PROSE:
        return True
    if suffix(name) in ("", ".txt") and _PROSE_NAME.fullmatch(name):
        return True
    return bool(_DOCS.intersection(folders)) and suffix(name) in _SHOWN


def suffix(path: str) -> str:
    """The end of a name from its last dot on, in small letters; a name that begins with its only dot has none."""
    stem, dot, end = name_of(path).rpartition(".")
    return f".{end}".lower() if dot and stem and end else ""


def name_of(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


@lru_cache(maxsize=100_000)
def folded(name: str) -> str:
    """A name as it is compared: large letters, odd letters and spaces at its ends make no difference."""
    return unicodedata.normalize("NFKC", name).strip().casefold()
