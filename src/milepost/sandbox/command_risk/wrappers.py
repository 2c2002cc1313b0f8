"""Programs that run another: what `env`, `timeout`, `xargs`, `sh -c` and their like would start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from milepost.sandbox.command_risk.kinds import Piece
from milepost.sandbox.command_risk.options import GIT_OPTIONS, NONE, options_of
from milepost.sandbox.command_risk.searches import found_by
from milepost.sandbox.command_risk.shell import pieces_of

SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "fish", "mksh"})
_PYTHON = re.compile(r"(python|pypy)[\d.]*$")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_JUDGED_TOOLS = frozenset(
    ("prisma", "knex", "sequelize", "typeorm", "drizzle-kit", "cdk", "serverless", "semantic-release", "lerna")
) | {"changeset", "rimraf", "wrangler", "vercel", "netlify", "firebase", "vsce"}

# The options that take a value, and how many words stand before the program.
_PLAIN: Mapping[str, tuple[frozenset[str], int]] = {
    "timeout": (frozenset({"-k", "-s", "--kill-after", "--signal"}), 1),
    "nice": (frozenset({"-n", "--adjustment"}), 0),
    "ionice": (frozenset({"-c", "-n"}), 0),
    "stdbuf": (frozenset({"-i", "-o", "-e"}), 0),
    "time": (frozenset({"-f", "-o"}), 0),
    "exec": (frozenset({"-a"}), 0),
    "env": (frozenset({"-u", "--unset", "-C", "--chdir"}), 0),
    "xargs": (frozenset({"-I", "-n", "-P", "-L", "-d", "-s", "-E", "-a", "--max-args", "--max-procs"}), 0),
    "sudo": (frozenset({"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "--user", "--group"}), 0),
    "doas": (frozenset({"-u", "-C"}), 0),
    "flock": (frozenset({"-w", "-E", "--timeout"}), 1),
    "strace": (frozenset({"-o", "-e", "-p", "-s"}), 0),
    "watch": (frozenset({"-n", "--interval"}), 0),
    "chroot": (frozenset({"--userspec", "--groups"}), 1),
    "npx": (frozenset({"-p", "--package", "-c", "--call"}), 0),
    "uvx": (frozenset({"--from", "--with", "-p", "--python"}), 0),
    "ssh": (frozenset({"-i", "-p", "-l", "-o", "-F", "-J", "-L", "-R", "-D", "-b", "-c"}), 1),
    **dict.fromkeys(("nohup", "setsid", "command", "builtin", "coproc", "busybox", "bunx", "parallel"), (NONE, 0)),
}
_SECOND_WORD: Mapping[tuple[str, str], tuple[frozenset[str], int]] = {
    **{(name, "run"): (frozenset({"--with", "-p", "--python", "--extra", "--group", "-n", "-e"}), 0)
       for name in ("poetry", "uv", "pipenv", "pdm", "rye", "conda", "micromamba", "doppler", "dotenv", "hatch")},
    **{(name, "exec"): (frozenset({"-p", "--package"}), 0) for name in ("npm", "pnpm", "yarn", "bundle", "mise")},
    **{(name, "dlx"): (NONE, 0) for name in ("pnpm", "yarn")},
    **{(name, "exec"): (NONE, 1) for name in ("direnv", "aws-vault")},
}  # fmt: skip
_NAMES = (
    "-e --env -u --user -w --workdir -v --volume -p --publish --name --network --entrypoint --mount -h --hostname "
    "--env-file -f --file --memory -m --cpus --platform --index -l --label --cap-add --cap-drop --device --pid --ipc "
    "--security-opt --pull --context --profile"
)
_CONTAINER_TAKING = frozenset(_NAMES.split())
_GIT_RUNS = frozenset({"core.sshcommand", "core.fsmonitor", "diff.external", "core.hookspath"})
_SAYING = frozenset({"-c", "--command"})
_CLUSTER_TAKING = frozenset({"-n", "--namespace", "-c", "--container", "--context", "--kubeconfig"})


def inner_pieces(piece: Piece) -> tuple[Piece, ...]:
    """What a piece would run beside itself; nothing for a program that runs no other."""
    name, arguments = piece.name, piece.arguments
    if name in SHELLS:
        return _of_shell(piece)
    if name in ("su", "runuser") and (text := options_of(arguments, _SAYING).value("-c", "--command")):
        return pieces_of(text[0], piece)
    if name == "eval":
        return pieces_of(" ".join(arguments), piece)
    if name == "trap" and arguments:
        return pieces_of(arguments[0], piece)
    if name == "git":
        return _by_git(piece)
    if name == "find":
        return tuple(_started(piece, words) for words in found_by(piece).runs)
    if name in ("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc"):
        return _in_container(piece)
    if _PYTHON.match(name):
        return _of_python(piece)
    if name in ("yarn", "pnpm", "bun") and arguments and arguments[0] in _JUDGED_TOOLS:
        return (_started(piece, arguments),)
    if arguments and (name, arguments[0]) in _SECOND_WORD:
        return _wrapped(piece, arguments[1:], *_SECOND_WORD[name, arguments[0]])
    if name in _PLAIN:
        return _wrapped(piece, arguments, *_PLAIN[name])
    return ()


def _wrapped(piece: Piece, words: tuple[str, ...], taking: frozenset[str], skipped: int) -> tuple[Piece, ...]:
    options = options_of(words, taking, leading=True)
    if piece.name == "npx" and (calls := options.value("-c", "--call")):
        return pieces_of(calls[0], piece)
    if piece.name == "command" and options.has("-v", "-V"):
        return ()
    if piece.name == "env" and (split := _split_string(words)):
        return pieces_of(split, piece)
    rest = options.rest[skipped:]
    while rest and (_ASSIGNMENT.match(rest[0]) or rest[0] == "--"):
        piece, rest = replace(piece, env=(*piece.env, rest[0])), rest[1:]
    if piece.name == "xargs":
        return _from_a_list(piece, rest, options.value("-I"))
    if piece.name == "parallel":
        rest = tuple(word for word in rest if not word.startswith(":::"))
    if piece.name == "ssh":
        return pieces_of(" ".join(rest), replace(piece, cwd="~"))
    if piece.name == "watch":
        return pieces_of(" ".join(rest), piece)
    return (_started(piece, rest),) if rest else ()


def _split_string(words: tuple[str, ...]) -> str:
    for place, word in enumerate(words):
        if word in ("-S", "--split-string"):
            return " ".join(words[place + 1 :])
        if word.startswith(("-S", "--split-string=")):
            return " ".join([word.removeprefix("--split-string=").removeprefix("-S"), *words[place + 1 :]])
        if not word.startswith("-"):
            break
    return ""


def _from_a_list(piece: Piece, words: tuple[str, ...], marks: tuple[str, ...]) -> tuple[Piece, ...]:
    """What `xargs` starts: its words, with those that it is fed where they are known to come from."""
    if not words:
        return ()
    fed = _fed(piece.fed_by)
    if not marks:
        return (_started(piece, (*words, *fed)),)
    return tuple(_started(piece, tuple(word.replace(marks[0], one) for word in words)) for one in fed)


_FILTERS = frozenset({"sort", "uniq", "head", "tail", "grep", "rg", "sed", "awk", "tr", "cut", "xargs"})
_LISTING = frozenset({"grep", "rg", "fd", "fdfind", "ag", "git", "jq"})


def _fed(source: Piece | None) -> tuple[str, ...]:
    """The words that a piece of a pipeline prints, as far as they matter: where they lead."""
    while source is not None and source.name in _FILTERS and source.fed_by is not None:
        source = source.fed_by
    if source is None:
        return ("$fed",)
    words = tuple(word for word in source.arguments if not word.startswith("-"))
    if source.name == "find":
        return found_by(source).targets
    if source.name in ("echo", "printf"):
        return tuple(word for text in words for word in text.split())
    if source.name == "ls":
        return words or ("*",)
    if source.name in _LISTING:
        return tuple(word for word in words if word.startswith(("/", "..", "~", "$"))) or ("found",)
    return ("$fed",)


def _of_shell(piece: Piece) -> tuple[Piece, ...]:
    words = list(piece.arguments)
    while words and words[0].startswith(("-", "+")) and words[0] != "--":
        option = words.pop(0)
        if option in ("-o", "-O", "+o", "+O", "--rcfile", "--init-file"):
            words = words[1:]
        elif re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", option) or option == "--command":
            while words and words[0].startswith("-"):
                words.pop(0)
            return pieces_of(words[0], piece) if words else ()
    reads_stdin = not words or "-s" in piece.arguments
    return pieces_of(piece.stdin, piece) if piece.stdin and reads_stdin else ()


def _of_python(piece: Piece) -> tuple[Piece, ...]:
    options = options_of(piece.arguments, frozenset({"-m", "-c", "-W", "-X"}), leading=True)
    if module := options.value("-m"):
        return (_started(piece, (module[0], *options.rest)),)
    if options.rest and options.rest[0].endswith(("manage.py", "setup.py")) and not options.value("-c"):
        return (_started(piece, options.rest),)
    return ()


def _by_git(piece: Piece) -> tuple[Piece, ...]:
    """What git starts because its settings on the command line say so."""
    given = options_of(piece.arguments, GIT_OPTIONS, leading=True).value("-c")
    settings = [text.partition("=") for text in given]
    texts = [value.lstrip("!") for name, _, value in settings if value.startswith("!") or name.lower() in _GIT_RUNS]
    return tuple(one for text in texts for one in pieces_of(text, replace(piece, stdin="", fed_by=None, writes=())))


def _in_container(piece: Piece) -> tuple[Piece, ...]:
    """What is run in a container, where the files are others: `docker exec DB psql …`."""
    cluster = piece.name in ("kubectl", "oc")
    rest = options_of(piece.arguments, _CLUSTER_TAKING if cluster else _CONTAINER_TAKING, leading=True).rest
    if rest[:1] in (("compose",), ("container",)):
        rest = options_of(rest[1:], _CONTAINER_TAKING, leading=True).rest
    if rest[:1] not in (("exec",), ("run",)):
        return ()
    if cluster:
        words = rest[rest.index("--") + 1 :] if "--" in rest else ()
    else:
        words = options_of(rest[1:], _CONTAINER_TAKING, leading=True).rest[1:]
    return (replace(_started(piece, words), elsewhere=True),) if words else ()


def _started(piece: Piece, words: tuple[str, ...]) -> Piece:
    return replace(piece, words=words, writes=())
