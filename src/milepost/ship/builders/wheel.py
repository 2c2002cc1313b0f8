"""Python: a wheel and an sdist, built by the project's own build system, or by hatchling where it has none."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import zipfile
from configparser import ConfigParser
from configparser import Error as IniError
from dataclasses import dataclass
from email.parser import HeaderParser
from pathlib import Path, PurePosixPath

from milepost.core.errors import PackageFailed
from milepost.core.shipping import ArtifactKind
from milepost.sandbox.read_plain import read_plain
from milepost.ship.builders.generated_pyproject import generated_pyproject
from milepost.ship.guest_files import sha256_of, take_file
from milepost.ship.recipe import Call, Component, Product, Recipe, Source, Step, Trial, is_requirement, trial_call
from milepost.sources.parse_documents import strings, table, toml_of

PIP = ("{kit}/pip/bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "--no-input")
_QUIET = ("--quiet", "--no-warn-script-location")
_BUILT = "{kit}/env/bin/python"
_LEGACY = ("setuptools>=40.8.0",)
_ASKED = (
    "import build, pyproject_hooks, sys\n"
    "made = build.ProjectBuilder(sys.argv[1], runner=pyproject_hooks.quiet_subprocess_runner)\n"
    "asked = {one for kind in ('sdist', 'wheel') for one in made.get_requires_for_build(kind)}\n"
    "print('\\n'.join(['', *sorted(asked)]))\n"
)
_LOADED = (
    "import importlib, importlib.metadata, sys\n"
    "name, *modules = sys.argv[1:]\n"
    "for one in importlib.metadata.distribution(name).entry_points:\n"
    "    if one.group in ('console_scripts', 'gui_scripts'): one.load()\n"
    "for module in modules: importlib.import_module(module)\n"
)
# Paths of a checkout do not get into what compilers write; what was asked for besides is found.
_BUILD_ENV = {
    **dict.fromkeys(("CFLAGS", "CXXFLAGS"), "-ffile-prefix-map={tree}=."),
    "PYTHONPATH": "{more}/packages",
}
_LARGEST_METADATA = 5_000_000


@dataclass(frozen=True, slots=True)
class WheelKind:
    """Wheels."""

    kind: ArtifactKind = ArtifactKind.WHEEL
    version: str = "1"

    def recipe(self, source: Source) -> Recipe:
        generated = generated_pyproject(source)
        manifest = toml_of(generated.get("pyproject.toml") or source.read("pyproject.toml") or b"")
        required = strings(table(manifest, "build-system").get("requires")) or _LEGACY
        for line in required:
            if not is_requirement(line):
                raise PackageFailed(
                    f"pyproject.toml builds with {line!r}, which is not a package by its name",
                    "name packages and versions in build-system.requires",
                )
        return Recipe(
            kind=self.kind,
            generated=generated,
            prepare=prepare_steps(required),
            ready=dynamic_steps(),
            build=(build_step(with_uv=source.has("uv")),),
        )

    def collect(self, source: Source, tree: Path, out: Path, draft: Path) -> Product:
        wheels, archives = sorted(out.glob("*.whl")), sorted(out.glob("*.tar.gz"))
        if len(wheels) != 1:
            names = ", ".join(file.name for file in wheels) or "none"
            raise PackageFailed(f"the build made {names} where one wheel was expected", "build one wheel")
        wheel = take_file(wheels[0], out, draft / wheels[0].name)
        others = tuple(_normalised(take_file(one, out, draft / one.name), source.time) for one in archives[:1])
        name, version = name_and_version(wheel)
        return Product(
            path=wheel,
            name=name,
            version=version,
            sha256=sha256_of(wheel),
            size=wheel.stat().st_size,
            start=source.options.command or started_by(wheel, name),
            others=others,
        )

    def trial(self, source: Source, product: Product) -> Trial:
        modules = () if scripts_of(product.path) else modules_of(product.path)
        python = "{trial}/env/bin/python"
        loaded: tuple[str, ...] = (python, "-I", "-c", _LOADED, product.name, *modules)
        calls = [Call(argv=loaded)]
        said = f"installed in a fresh environment, {', '.join(modules) or 'its entry points'} imported"
        if product.start:
            program, *words = product.start
            argv = (python if program == "python" else f"{{trial}}/env/bin/{program}", *words)
            calls.append(trial_call(argv, source.options))
            said = f"installed in a fresh environment, {' '.join(product.start)} called"
        return Trial(install=install_steps(), calls=tuple(calls), said=said)

    def components(self, source: Source, tree: Path, trial: Path) -> tuple[Component, ...]:
        return installed_components(sorted((trial / "env").glob("lib/python*/site-packages/*.dist-info/METADATA")))


def prepare_steps(required: tuple[str, ...]) -> tuple[Step, ...]:
    """Make an environment that builds: what it needs is fetched, which runs none of it, and installed offline."""
    packages = ("build", *required)
    return (
        Step(argv=("{python}", "-I", "-m", "venv", "{kit}/pip")),
        Step(argv=("{python}", "-I", "-m", "venv", "--without-pip", "{kit}/env")),
        _fetch(*packages, wheels="{kit}/wheels"),
        _install(*packages, wheels="{kit}/wheels"),
    )


def dynamic_steps() -> tuple[Step, ...]:
    """What a build system asks for beside what the manifest says: it is asked in a checkout, without a network."""
    return (
        Step(argv=(_BUILT, "-c", _ASKED, "{tree}"), cwd="{tree}", gives="asked"),
        _fetch("{asked}", wheels="{more}/wheels"),
        _install("{asked}", wheels="{more}/wheels", options=("--target", "{more}/packages")),
    )


def build_step(*, with_uv: bool) -> Step:
    """The command that builds the sdist, and of it the wheel."""
    if with_uv:
        options = ("--no-build-isolation", "--offline", "--no-config", "--python", _BUILT, "--out-dir", "{out}")
        return Step(argv=("uv", "build", *options, "{tree}"), cwd="{tree}", env=_BUILD_ENV)
    plain = ("--no-isolation", "--skip-dependency-check", "--outdir", "{out}")
    return Step(argv=(_BUILT, "-I", "-m", "build", *plain, "{tree}"), cwd="{tree}", env=_BUILD_ENV)


def install_steps() -> tuple[Step, ...]:
    """Install a wheel in a fresh environment: its dependencies are fetched first, and nothing is run while there is
    a network."""
    wheels = "{trial}/wheels"
    into = ("--python", "{trial}/env/bin/python", "install", *_QUIET, "--no-index", "--find-links", wheels)
    return (
        Step(argv=(*PIP, "download", "--quiet", "--only-binary", ":all:", "--dest", wheels, "{file}"), tool="pip"),
        Step(argv=("{python}", "-I", "-m", "venv", "--without-pip", "{trial}/env")),
        Step(argv=(*PIP, *into, "{file}")),
    )


def name_and_version(wheel: Path) -> tuple[str, str]:
    headers = HeaderParser().parsestr(_metadata(wheel, "METADATA"))
    return str(headers.get("Name", "")), str(headers.get("Version", ""))


def scripts_of(wheel: Path) -> tuple[str, ...]:
    """The programs that a wheel installs."""
    return tuple(_scripts(wheel))


def _scripts(wheel: Path) -> dict[str, str]:
    parser = ConfigParser(delimiters=("=",), interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(_metadata(wheel, "entry_points.txt"))
    except IniError:
        return {}
    return dict(parser["console_scripts"]) if parser.has_section("console_scripts") else {}


def entry_point_of(wheel: Path, program: str) -> str:
    """The function that a program of a wheel calls, as `module:function`; empty where it is none of its programs."""
    points = _scripts(wheel)
    return points.get(program, "").partition("[")[0].strip()


def started_by(wheel: Path, name: str) -> tuple[str, ...]:
    """The command that a wheel is started by: the program of its own name before others, else a package's own."""
    scripts = scripts_of(wheel)
    if scripts:
        plain = re.sub(r"[-_.]+", "-", name).lower()
        return (next((one for one in scripts if re.sub(r"[-_.]+", "-", one).lower() == plain), scripts[0]),)
    with zipfile.ZipFile(wheel) as archive:
        mains = [str(PurePosixPath(one).parent) for one in archive.namelist() if one.endswith("/__main__.py")]
    return ("python", "-m", min(mains, key=len).replace("/", ".")) if mains else ()


def modules_of(wheel: Path) -> tuple[str, ...]:
    """What a wheel lets one import, at its top."""
    with zipfile.ZipFile(wheel) as archive:
        paths = [PurePosixPath(name) for name in archive.namelist() if name.endswith((".py", ".so"))]
    tops = {path.parts[0].partition(".")[0] for path in paths if not path.parts[0].endswith((".data", ".dist-info"))}
    return tuple(sorted(name for name in tops if name.isidentifier()))


def installed_components(files: list[Path]) -> tuple[Component, ...]:
    """The packages of an environment by their METADATA."""
    found = []
    for file in files[:5_000]:
        headers = HeaderParser().parsestr(read_plain(file, _LARGEST_METADATA).decode("utf-8", "replace"))
        name, version = str(headers.get("Name", "")), str(headers.get("Version", ""))
        licence = str(headers.get("License-Expression") or headers.get("License") or "").strip().partition("\n")[0]
        purl = f"pkg:pypi/{re.sub(r'[-_.]+', '-', name).lower()}@{version}"
        found.append(Component(purl=purl, name=name, version=version, licence=licence[:100]))
    return tuple(sorted(found, key=lambda one: one.purl))


def _fetch(*packages: str, wheels: str) -> Step:
    argv = (*PIP, "download", "--quiet", "--only-binary", ":all:", "--dest", wheels, *packages)
    return Step(argv=argv, tool="pip")


def _install(*packages: str, wheels: str, options: tuple[str, ...] = ()) -> Step:
    source = ("--no-index", "--find-links", wheels, *options)
    return Step(argv=(*PIP, "--python", _BUILT, "install", *_QUIET, *source, *packages))


def _metadata(wheel: Path, name: str) -> str:
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = next((one for one in archive.infolist() if one.filename.endswith(f".dist-info/{name}")), None)
            if found is None or found.file_size > _LARGEST_METADATA:
                return ""
            return archive.read(found).decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile) as error:
        raise PackageFailed(f"{wheel.name} is not a wheel: {error}", "look at the project's build system") from error


def _normalised(sdist: Path, time: int) -> Path:
    """The same archive with the commit's time for every file: build systems write the time of day into it."""
    whole = io.BytesIO()
    with tarfile.open(sdist) as there, tarfile.open(fileobj=whole, mode="w", format=tarfile.PAX_FORMAT) as here:
        for member in sorted(there.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = time, 0, 0, "", ""
            member.pax_headers = {}
            here.addfile(member, there.extractfile(member) if member.isreg() else None)
    sdist.write_bytes(gzip.compress(whole.getvalue(), 9, mtime=0))
    return sdist
