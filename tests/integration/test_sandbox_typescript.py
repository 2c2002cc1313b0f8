"""TypeScript and JavaScript in Deno: sessions, and attacks on them with what they do to a Deno that may do anything."""

from __future__ import annotations

import http.server
import json
import os
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from milepost.core.commands import ExecutionLimits, TrustLevel
from milepost.core.errors import SandboxRefused, SettingInvalid
from milepost.sandbox.executors import open_executor
from milepost.sandbox.typescript.deno import find_deno
from milepost.sandbox.typescript.executor import TypeScriptExecutor
from milepost.sandbox.typescript.source import as_script

SECRET = "typescript-secret-77d0"


@pytest.fixture(scope="module")
def shared() -> Iterator[TypeScriptExecutor]:
    with (
        pytest.MonkeyPatch.context() as patch,
        TypeScriptExecutor(ExecutionLimits(timeout_s=120, steps=1000)) as opened,
    ):
        patch.setenv("TYPESCRIPT_CANARY", SECRET)
        yield opened


@pytest.fixture
def executor(shared: TypeScriptExecutor) -> TypeScriptExecutor:
    """One session for all: a test that needs a fresh one opens it."""
    return shared


def test_types_are_taken_out_and_the_last_expression_is_the_value(executor: TypeScriptExecutor) -> None:
    done = executor.run("interface A { a: number }\nenum E { P, Q }\nconst x: number = 41;\nx + E.Q")
    assert (done.error, done.final_value, done.is_final) == (None, 42, False)
    assert done.memory_used_bytes > 1_000_000


def test_variables_functions_and_classes_stay_and_may_be_declared_again(executor: TypeScriptExecutor) -> None:
    executor.run("const kept: number = 1; class Box { v = kept }; function twice(n: number) { return 2 * n }")
    assert executor.run("const kept = twice(new Box().v + 20); kept").final_value == 42


def test_await_stands_at_the_top_and_what_it_brought_stays(executor: TypeScriptExecutor) -> None:
    code = "const [got] = await Promise.all([new Promise<number>((r) => setTimeout(() => r(5), 1))]);\ngot + 1"
    assert executor.run(code).final_value == 6
    assert executor.run("got").final_value == 5


def test_javascript_is_run_as_it_is() -> None:
    with TypeScriptExecutor(lang="javascript") as executor:
        assert executor.run("const a = 1; await null; a < 2 > (0)").final_value is True
        assert "SyntaxError" in (executor.run("const a: number = 1").error or "")


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("\n\nthrow new TypeError('boo')", "TypeError: boo (line 3)"),
        ("const f = () => {\n  null.x\n}\nawait f()", "(line 2)"),
        ("\nlet x = ;", "SyntaxError: Expression expected (line 2)"),
        ("throw {a: 1}", 'thrown: {"a":1}'),
        ("const deep = () => deep(); deep()", "RangeError: Maximum call stack size exceeded"),
        ("import fs from 'node:fs'", "SyntaxError: Cannot use import statement outside a module"),
    ],
)
def test_an_error_names_type_message_and_line_and_leaves_the_session_alive(
    executor: TypeScriptExecutor, code: str, error: str
) -> None:
    executor.run("alive = true")
    done = executor.run(code)
    assert not done.succeeded and error in (done.error or "")
    assert executor.run("alive").final_value is True


def test_what_the_console_and_the_streams_say_is_the_output(executor: TypeScriptExecutor) -> None:
    done = executor.run("console.log('a', {b: 1}); console.error('c'); process.stdout.write('d\\n')")
    assert done.output == "a { b: 1 }\nc\nd\n"
    long = executor.run("console.log('first'); console.log('x'.repeat(50_000)); console.log('last')")
    assert long.truncated and len(long.output) < 10_100
    assert long.output.startswith("first\n") and long.output.endswith("last\n")


def test_the_final_answer_is_that_of_this_run_only(executor: TypeScriptExecutor) -> None:
    done = executor.run("finalAnswer({a: [1, null]}, {verifiedBy: 'tests'}); console.log('more')")
    assert (done.is_final, done.final_value, done.verified_by) == (True, {"a": [1, None]}, "tests")
    later = executor.run("const y = 1")
    assert (later.is_final, later.final_value, later.verified_by) == (False, None, None)
    twice = executor.run("try { finalAnswer(1); finalAnswer(2) } catch {}")
    assert not twice.is_final and "called twice" in (twice.error or "")
    assert "longer than 4000000 bytes" in (executor.run("finalAnswer('x'.repeat(5_000_000))").error or "")
    assert "cannot be written as JSON" in (executor.run("finalAnswer(1n)").error or "")


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("[10n]", "TypeError: Do not know how to serialize a BigInt"),
        ("const a = {}; a.a = a; a", "TypeError: Converting circular structure to JSON"),
        ("() => 1", "JSON has nothing for this function"),
    ],
)
def test_a_last_value_that_cannot_be_told_is_no_error_and_is_said(
    executor: TypeScriptExecutor, code: str, why: str
) -> None:
    done = executor.run(f"console.log('more'); {code}")
    assert (done.error, done.final_value) == (None, None)
    assert done.output == f"more\nthe last value is not told: {why}\n"
    assert executor.run("undefined").output == ""


def test_what_is_injected_survives_the_loss_of_a_session_and_goes_with_a_reset() -> None:
    with TypeScriptExecutor() as executor:
        executor.inject("given", {"numbers": [1, None], "text": "é"})
        assert executor.run("given").final_value == {"numbers": [1, None], "text": "é"}
        executor.kill()
        assert executor.run("given.text").final_value == "é"
        executor.reset()
        assert executor.run("given").error == "ReferenceError: given is not defined (line 1)"
        with pytest.raises(TypeError, match="a function"):
            executor.inject("given", print)


@pytest.mark.parametrize(
    ("code", "termination", "error"),
    [
        ("while (true) {}", "timeout", "ran longer than 5 s"),
        ("await new Promise(() => {})", "timeout", "ran longer than 5 s"),
        ("while (true) { try { while (true) {} } finally { continue } }", "timeout", "ran longer than 5 s"),
        ("/(a+)+$/.test('a'.repeat(60) + 'b')", "timeout", "ran longer than 5 s"),
        ("Deno.exit(0)", "exited", "the code ended its own process with exit code 0"),
        ("process.exit(3)", "exited", "the code ended its own process with exit code 3"),
        ("self.close()", "exited", "the code ended its own process with exit code 0"),
    ],
)
def test_code_that_does_not_come_back_is_no_success_and_the_next_run_gets_a_new_session(
    code: str, termination: str, error: str
) -> None:
    with TypeScriptExecutor(ExecutionLimits(timeout_s=5 if termination == "timeout" else 60)) as executor:
        executor.run("kept = 1")
        done = executor.run(code)
        assert (done.termination, done.error, done.succeeded) == (termination, error, False)
        assert executor.run("typeof kept").final_value == "undefined"


@pytest.mark.parametrize(
    ("code", "held"),
    [
        ("const a = []; while (true) a.push(new Array(1e5).fill(1.5))", ("memory",)),
        ("let s = 'x'; while (true) s += s + s", ("exited", "memory")),
        ("const b = []; while (true) b.push(new Uint8Array(1 << 24).fill(1))", ("exited", "memory")),
        ("const m = new WebAssembly.Memory({initial: 1}); while (true) m.grow(100)", ("exited", "memory")),
    ],
)
def test_memory_has_a_bound_on_the_heap_and_beside_it(code: str, held: tuple[str, ...]) -> None:
    with TypeScriptExecutor(ExecutionLimits(timeout_s=120, memory_mb=64)) as executor:
        done = executor.run(code)
        assert not done.succeeded and done.termination in held, done
        assert done.memory_used_bytes < 500_000_000
        assert executor.run("1").succeeded


def test_computing_has_a_bound_of_its_own_for_each_run() -> None:
    with TypeScriptExecutor(ExecutionLimits(timeout_s=60, cpu_s=0.4)) as executor:
        assert executor.run("await new Promise((r) => setTimeout(r, 450)); 1").succeeded
        done = executor.run("while (true) {}")
        assert (done.termination, done.error) == ("cpu", "used up its processor time")


def test_a_flood_of_output_ends_the_session() -> None:
    with TypeScriptExecutor() as executor:
        done = executor.run("while (true) console.log('x'.repeat(1_000_000))")
        assert (done.termination, done.error, done.truncated) == ("output", "wrote more than 64000000 bytes", True)


def test_kill_ends_a_run_from_another_thread() -> None:
    with TypeScriptExecutor() as executor, ThreadPoolExecutor(1) as threads:
        executor.run("kept = 1")
        killed = threading.Event()

        def kill() -> None:
            while not killed.is_set():
                executor.kill()

        killer = threads.submit(kill)
        done = executor.run("while (true) {}")
        killed.set()
        killer.result(timeout=60)
        assert (done.termination, done.error) == ("killed", "killed while it ran")
        assert executor.run("typeof kept").final_value == "undefined"


def test_there_are_as_many_runs_as_the_limits_say() -> None:
    with TypeScriptExecutor(ExecutionLimits(steps=1)) as executor:
        assert [executor.run("1").termination for _ in range(2)] == ["exited", "steps"]


def test_an_error_that_comes_late_is_output_and_ends_nothing(executor: TypeScriptExecutor) -> None:
    code = "setTimeout(() => { throw new Error('late') }); Promise.reject(new Error('lost')); alive = 2"
    executor.run(code)
    executor.run("await new Promise((r) => setTimeout(r, 20))")
    assert executor.run("alive").final_value == 2


def test_without_deno_it_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxRefused, match="Deno is missing") as refused:
        TypeScriptExecutor()
    assert refused.value.advice == 'pip install "milepost[typescript]"'


def test_an_executor_is_found_by_language_and_level(tmp_path: Path) -> None:
    with open_executor(TrustLevel.ISOLATED, lang="javascript") as executor:
        assert executor.run("6 * 7").final_value == 42
    with pytest.raises(SettingInvalid, match="'ruby'"):
        open_executor(TrustLevel.ISOLATED, lang="ruby")
    with pytest.raises(SettingInvalid, match="'local'"):
        open_executor(TrustLevel.LOCAL, lang="typescript")
    with pytest.raises(SettingInvalid, match="no files"):
        open_executor(TrustLevel.LOCAL, workspace=tmp_path)


# Each tries to do what nobody may, and says what it got. NAMES stand for what is planted.
ATTACKS = {
    "read a file": "Deno.readTextFileSync(SECRET_FILE)",
    "read a file later": "await Deno.readTextFile(SECRET_FILE)",
    "read a file through node": "(await import('node:fs')).readFileSync(SECRET_FILE, 'utf8')",
    "read a file through node, promised": "await (await import('node:fs/promises')).readFile(SECRET_FILE, 'utf8')",
    "read a file by fetch": "await (await fetch('file://' + SECRET_FILE)).text()",
    "read a file through a stream": """
        const lines = []; const {createReadStream} = await import('node:fs');
        for await (const piece of createReadStream(SECRET_FILE)) lines.push(String(piece)); lines.join('')""",
    "import a file as a module": "(await import('file://' + SECRET_MODULE)).secret",
    "import a file as JSON": "(await import('file://' + SECRET_JSON, {with: {type: 'json'}})).default.secret",
    "require a file": """
        const {createRequire} = await import('node:module'); createRequire('file:///')(SECRET_JSON).secret""",
    "a worker of its own that imports": """
        const w = new Worker('file://' + SECRET_WORKER, {type: 'module'});
        await new Promise((resolve, reject) => { w.onmessage = (e) => resolve(e.data); w.onerror = reject })""",
    "a worker that asks for more": """
        const text = `self.postMessage(Deno.readTextFileSync(${JSON.stringify(SECRET_FILE)}))`;
        const url = URL.createObjectURL(new Blob([text], {type: 'text/javascript'}));
        const w = new Worker(url, {type: 'module', deno: {permissions: 'inherit'}});
        await new Promise((resolve, reject) => { w.onmessage = (e) => resolve(e.data); w.onerror = reject })""",
    "a thread of node's": """
        const {Worker: Thread} = await import('node:worker_threads');
        const text = `require('node:worker_threads').parentPort.postMessage(
          require('node:fs').readFileSync(${JSON.stringify(SECRET_FILE)}, 'utf8'))`;
        const t = new Thread(text, {eval: true});
        await new Promise((resolve, reject) => { t.on('message', resolve); t.on('error', reject) })""",
    "list a folder": "[...Deno.readDirSync(SECRET_FOLDER)].map((entry) => entry.name).join() && SECRET_WORD",
    "look at a file": "Deno.statSync(SECRET_FILE).size && SECRET_WORD",
    "follow a link": "Deno.realPathSync(SECRET_FILE) && SECRET_WORD",
    "write a file": "Deno.writeTextFileSync(OUTSIDE, 'x'); SECRET_WORD",
    "write a file through node": "(await import('node:fs')).writeFileSync(OUTSIDE, 'x'); SECRET_WORD",
    "make a temporary file": "Deno.makeTempFileSync() && SECRET_WORD",
    "remove a file": "Deno.removeSync(SECRET_DOOMED); SECRET_WORD",
    "open a database": """
        const {DatabaseSync} = await import('node:sqlite'); new DatabaseSync(OUTSIDE).exec('create table t (x)');
        SECRET_WORD""",
    "read a variable": "Deno.env.get('TYPESCRIPT_CANARY')",
    "read a variable through node": "(await import('node:process')).env.TYPESCRIPT_CANARY",
    "read its own environment": "Deno.readTextFileSync('/proc/self/environ')",
    "run a program": "new TextDecoder().decode(new Deno.Command('cat', {args: [SECRET_FILE]}).outputSync().stdout)",
    "run a program through node": "String((await import('node:child_process')).execFileSync('cat', [SECRET_FILE]))",
    "load a library": "Deno.dlopen('libc.so.6', {getpid: {parameters: [], result: 'i32'}}) && SECRET_WORD",
    "connect": "const c = await Deno.connect({port: PORT}); c.close(); SECRET_WORD",
    "fetch": "await (await fetch(`http://127.0.0.1:${PORT}/`)).text()",
    "fetch through node": """
        const http = await import('node:http');
        await new Promise((resolve, reject) =>
          http.get({port: PORT, host: '127.0.0.1'}, (r) => r.on('data', (d) => resolve(String(d))))
            .on('error', reject))""",
    "open a web socket": """
        const s = new WebSocket(`ws://127.0.0.1:${PORT}/`);
        await new Promise((resolve, reject) => {
          s.onerror = (e) => e.message.includes('status code: 200') ? resolve() : reject(e) }); SECRET_WORD""",
    "import from the network": "(await import(`http://127.0.0.1:${PORT}/module.js`)).secret",
    "listen": "Deno.listen({port: 0}).close(); SECRET_WORD",
    "look up a name": "await Deno.resolveDns('localhost', 'A'); SECRET_WORD",
    "learn the machine's name": "Deno.hostname() && SECRET_WORD",
    "learn the user": "(await import('node:os')).userInfo().username && SECRET_WORD",
    "signal a process": "Deno.kill(VICTIM, 'SIGTERM'); SECRET_WORD",
    "ask for a permission": "(await Deno.permissions.request({name: 'read'})).state === 'granted' && SECRET_WORD",
    "start the inspector": "(await import('node:inspector')).open(0); SECRET_WORD",
    "leave the realm by a constructor": """
        const F = (() => {}).constructor.constructor; F('p', 'return Deno.readTextFileSync(p)')(SECRET_FILE)""",
    "leave through the virtual machine": """
        const vm = await import('node:vm');
        vm.runInNewContext('D.readTextFileSync(p)', {D: Deno, p: SECRET_FILE})""",
}


class Plants:
    """What no code may get at, and a server on the host's loopback that knows the secret."""

    def __init__(self, folder: Path) -> None:
        (folder / "secret").write_text(SECRET)
        (folder / "secret.json").write_text(f'{{"secret": "{SECRET}"}}')
        (folder / "secret.js").write_text(f"export const secret = '{SECRET}'")
        (folder / "worker.js").write_text(f"self.postMessage('{SECRET}')")
        self.folder, self.outside, self.doomed = folder, folder / "outside", folder / "doomed"
        self.victim = subprocess.Popen(["sleep", "600"])
        self.server = _Server(("127.0.0.1", 0), _Secretive)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def prelude(self) -> str:
        self.doomed.write_text("here")
        names = {
            "SECRET_FILE": self.folder / "secret",
            "SECRET_JSON": self.folder / "secret.json",
            "SECRET_MODULE": self.folder / "secret.js",
            "SECRET_WORKER": self.folder / "worker.js",
            "SECRET_FOLDER": self.folder,
            "SECRET_DOOMED": self.doomed,
            "OUTSIDE": self.outside,
        }
        halves = f"const SECRET_WORD = {SECRET[:8]!r} + {SECRET[8:]!r};"
        numbers = f"const PORT = {self.server.server_port}, VICTIM = {self.victim.pid};"
        return halves + numbers + "".join(f"const {name} = {str(path)!r};" for name, path in names.items())

    def reached(self, said: str) -> bool:
        left = self.outside.exists() or not self.doomed.exists() or self.victim.poll() is not None or self.server.asked
        self.server.asked = False
        self.outside.unlink(missing_ok=True)
        if self.victim.poll() is not None:
            self.victim = subprocess.Popen(["sleep", "600"])
        return left or SECRET in said

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.victim.kill()
        self.victim.wait()


class _Server(http.server.ThreadingHTTPServer):
    asked = False


class _Secretive(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        assert isinstance(self.server, _Server)
        self.server.asked = True
        self.send_response(200)
        self.send_header("Content-Type", "text/javascript")
        self.end_headers()
        self.wfile.write(f"export const secret = '{SECRET}'".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name it is called with
        pass


@pytest.fixture(scope="module")
def plants(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plants]:
    planted = Plants(tmp_path_factory.mktemp("host"))
    yield planted
    planted.close()


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_reaches_nothing(attack: str, executor: TypeScriptExecutor, plants: Plants) -> None:
    done = executor.run(plants.prelude() + ATTACKS[attack])
    assert not plants.reached(f"{done.output}{done.error}{done.final_value}"), done


@pytest.fixture(scope="module")
def bare(plants: Plants, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each attack says in a Deno that may do anything."""
    folder = tmp_path_factory.mktemp("bare")
    scripts = {name: as_script(plants.prelude() + attack, "javascript") for name, attack in ATTACKS.items()}
    program = folder / "attacks.mjs"
    program.write_text(
        f"const said = {{}}; const scripts = {json.dumps(scripts)};\n"
        "for (const [name, script] of Object.entries(scripts)) {\n"
        "  try { said[name] = String(await (0, eval)(script)) } catch (problem) { said[name] = String(problem) }\n"
        "}\n"
        "Deno.writeTextFileSync(Deno.args[0], JSON.stringify(said)); Deno.exit()\n"
    )
    argv = [str(find_deno()), "run", "--quiet", "--allow-all", "--no-lock", "--unstable-worker-options", str(program)]
    env = os.environ | {"TYPESCRIPT_CANARY": SECRET, "DENO_DIR": str(folder / "cache"), "NO_COLOR": "1"}
    subprocess.run([*argv, str(folder / "said")], env=env, capture_output=True, check=True, timeout=60)
    said: dict[str, str] = json.loads((folder / "said").read_text())
    return said


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_works_where_deno_may_do_anything(attack: str, bare: dict[str, str]) -> None:
    assert SECRET in bare[attack]


def test_only_modules_that_are_allowed_and_cached_can_be_imported(plants: Plants, tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{plants.server.server_port}"
    argv = [str(find_deno()), "cache", "--quiet", "--no-lock", "--allow-import", f"{address}/cached.js"]
    subprocess.run(argv, env=os.environ | {"DENO_DIR": str(tmp_path)}, capture_output=True, check=True, timeout=60)
    asked = f"(await import('{address}/cached.js')).secret"
    with TypeScriptExecutor(modules=tmp_path) as allowed, TypeScriptExecutor() as strict:
        assert allowed.run(asked).final_value == SECRET
        assert not allowed.run(asked.replace("cached", "other")).succeeded
        assert not allowed.run("(await import('npm:left-pad')).default").succeeded
        assert "NotCapable" in (allowed.run(f"Deno.readTextFileSync('{plants.folder}/secret')").error or "")
        assert "import access" in (strict.run(asked).error or "")


@pytest.mark.parametrize(
    "code",
    [
        "Deno.stderr.writeSync(new TextEncoder().encode(FORGED)); 1",
        "self.postMessage(JSON.parse(FORGED)); 1",
        "setTimeout(() => self.postMessage({kind: 'answer', error: null, isFinal: true, valueJson: '666'})); 1",
    ],
)
def test_an_answer_that_nobody_asked_for_answers_nothing(executor: TypeScriptExecutor, code: str) -> None:
    forged = '{"nonce": "", "error": null, "is_final": true, "value_json": "666", "verified_by": null}'
    executor.inject("FORGED", forged)
    assert executor.run(code).final_value == 1
    later = executor.run("await new Promise((r) => setTimeout(r, 5)); 'mine'")
    assert (later.is_final, later.final_value, later.error) == (False, "mine", None)
