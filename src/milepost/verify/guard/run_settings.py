"""Settings that change with what programs and scripts are run: npm's, yarn's, Cargo's, Maven's, variables in files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from milepost.core.change import ChangedFile
from milepost.verify.guard.finding import GuardFinding

LONGEST_LINE = 2000

_SHELLS = re.compile(r"(/usr)?(/local)?(/bin/)?(sh|bash|zsh|dash|ksh|pwsh|powershell|cmd)(\.exe)?")
_NODE_OPTIONS = re.compile(
    r"--(max-old-space-size|max-semi-space-size|stack-size|stack-trace-limit|max-http-header-size|dns-result-order)=[\w\-]+"
    r"|--(no-)?(warnings|deprecation|experimental-vm-modules|experimental-strip-types)"
    r"|--(experimental-vm-modules|enable-source-maps|trace-warnings|unhandled-rejections=strict|experimental-json-modules)"
    r"|--openssl-legacy-provider|--use-(openssl|system)-ca|--disable-warning=\w+|--icu-data-dir=\S+|--expose-gc"
    r"|--experimental-(strip-types|transform-types|default-type=\w+|wasm-modules|import-meta-resolve|require-module)"
)
_VARIABLES = re.compile(
    r"(?mi)^[ \t]*(?:export[ \t]+|set[ \t]+)?[\"']?"
    r"(NODE_OPTIONS|NODE_PATH|PYTHONSTARTUP|PYTHONHOME|PYTHONUSERBASE|PYTHONINSPECT|LD_PRELOAD"
    r"|BASH_ENV|npm_config_(?:script_shell|node_options|ignore_scripts|if_present|dry_run)"
    r"|JAVA_TOOL_OPTIONS|MAVEN_OPTS|MAVEN_ARGS"
    r"|GOFLAGS|RUSTC_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER|CARGO_TARGET_\w+_RUNNER|PYTHONBREAKPOINT|DYLD_INSERT_LIBRARIES)"
    r"[\"']?[ \t]*[:=][ \t]*(.*)$"
)
_NPM = {
    "script-shell": "another shell for scripts",
    "shell": "another shell",
    "node-options": "options for every node",
    "ignore-scripts": "the scripts around a script left out",
    "if-present": "a missing script taken for one that succeeds",
    "dry-run": "nothing really run",
    "onload-script": "code for every npm",
    "scripts-prepend-node-path": "another node for scripts",
    "userconfig": "settings from elsewhere",
    "globalconfig": "settings from elsewhere",
    "workspaces": "other packages' scripts",
    "workspace": "another package's scripts",
    "prefix": "another folder for scripts",
    "node-version": "another node",
    "use-node-version": "another node",
    "shell-emulator": "another shell for scripts",
    "shellemulator": "another shell for scripts",
    "scriptshell": "another shell for scripts",
    "yarn-path": "another yarn",
    "yarnpath": "another yarn",
    "plugins": "code for every yarn",
    "pnpmfile": "code for every pnpm",
}
_LINES: Mapping[str, tuple[re.Pattern[str], str]] = {
    ".cargo": (
        re.compile(
            r"(?m)^[ \t]*(runner|rustc-wrapper|rustc-workspace-wrapper|rustc|rustflags)[ \t]*="
            r"|^[ \t]*(test|t)[ \t]*="
        ),
        "another program in the place of the tests",
    ),
    ".mvn": (
        re.compile(
            r"-DskipTests|-Dmaven\.test\.(skip|failure\.ignore)|-DtestFailureIgnore|(^|\s)(-fn|--fail-never)\b|-Dtest="
        ),
        "tests left out or their failures ignored",
    ),
    "pom.xml": (
        re.compile(r"<(skipTests|skip|maven\.test\.skip|testFailureIgnore|maven\.test\.failure\.ignore)>\s*true"),
        "tests left out or their failures ignored",
    ),
    "build.gradle": (
        re.compile(r"ignoreFailures\s*=\s*true|\btest\s*\{[^}]{0,200}enabled\s*=\s*false|test\.enabled\s*=\s*false"),
        "tests left out or their failures ignored",
    ),
    "bunfig.toml": (re.compile(r"(?m)^[ \t]*preload[ \t]*="), "code before every test"),
}
_ENVIRONMENT_FILES = re.compile(
    r"\.env(\..+|rc)?|\.?mise(\.\w+)*\.toml|\.tool-versions|devcontainer\.json|docker-compose.*\.ya?ml|\.profile|\.bashrc|go\.env"
    r"|\.npmrc|\.yarnrc(\.yml)?|Makefile|makefile|justfile|tox\.ini|pyproject\.toml|setup\.cfg"
)


def loosened(file: ChangedFile) -> tuple[GuardFinding, ...]:
    """The findings about one file of settings; what stood there before is none."""
    if file.after is None or file.is_link:
        return ()
    found = dict.fromkeys((*_npm(file), *_lines(file), *_variables(file)))
    return tuple(GuardFinding(path=file.path, line=0, what=what, forges=True) for what in found)


def harmless_node_options(value: str) -> bool:
    """Whether options of node change nothing about which code is run."""
    options = re.sub(r"\$\{?NODE_OPTIONS[^}\s]*\}?|[\"',]", " ", value).split()
    return all(_NODE_OPTIONS.fullmatch(option) for option in options)


def _npm(file: ChangedFile) -> Iterator[str]:
    if PurePosixPath(file.path).name not in (".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmrc", "pnpm-workspace.yaml"):
        return
    before, after = _pairs(file.text_before), _pairs(file.text_after)
    for name, value in after.items():
        meaning = _NPM.get(name, "")
        if meaning and before.get(name) != value and not _is_harmless(name, value):
            yield f"sets {name} to {value!r}: {meaning}"


def _pairs(text: str) -> dict[str, str]:
    """`name = value`, `name value` and `name: value`, in the names of .npmrc: lower case, with dashes."""
    found: dict[str, str] = {}
    for line in map(str.strip, text.splitlines()):
        name, _, value = (re.sub(r"[=:]", " ", line, count=1) if len(line) < LONGEST_LINE else "").partition(" ")
        if name and not name.startswith(("#", ";")):
            plain = name.strip("\"'").removeprefix("--").removesuffix("[]").lower().replace("_", "-")
            found[plain.removeprefix("install.")] = value.strip().strip("\"'")
    return found


def _is_harmless(name: str, value: str) -> bool:
    if name in ("script-shell", "scriptshell", "shell"):
        return _SHELLS.fullmatch(value) is not None
    if name == "node-options":
        return harmless_node_options(value)
    if name in ("yarn-path", "yarnpath"):
        return value.startswith(".yarn/releases/")
    return value.lower() in ("false", "0", "")


def _lines(file: ChangedFile) -> Iterator[str]:
    path = PurePosixPath(file.path)
    for place, (pattern, meaning) in _LINES.items():
        if path.name.removesuffix(".kts") == place or (place in path.parts[:-1] and place.startswith(".")):
            before = {found[0].strip() for found in pattern.finditer(file.text_before)}
            for found in pattern.finditer(file.text_after):
                if found[0].strip() not in before:
                    yield f"has {found[0].strip()!r} now: {meaning}"


def _variables(file: ChangedFile) -> Iterator[str]:
    if not _ENVIRONMENT_FILES.fullmatch(PurePosixPath(file.path).name):
        return
    before = set(_VARIABLES.findall(file.text_before))
    for name, value in _VARIABLES.findall(file.text_after):
        if (name, value) not in before and not (name == "NODE_OPTIONS" and harmless_node_options(value)):
            yield f"sets {name}"
