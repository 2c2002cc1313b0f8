"""What real repositories need: a red base told first, files that git ignores, lines that prove nothing held."""

from __future__ import annotations

import pytest

from tests.e2e.conftest import Sandbox
from tests.e2e.test_held import verdicts
from tests.e2e.test_proof import scripted, write
from tests.postgres import Cluster
from tests.tools import needs

TEST = """import pathlib

def test_settings():
    assert pathlib.Path(".env").read_text() == "TOKEN=abcdef-123456\\n"

def test_two():
    from pkg import two
    assert two() == 2
"""
ROADMAP = "- [ ] Let two give two\n  - write pkg.py 'def two(): return 2'\n  - Verify: `pytest -q test_all.py`\n"


def test_a_red_base_is_told_before_an_agent_works_and_an_ignored_file_is_offered_and_copied(sandbox: Sandbox) -> None:
    sandbox.write("pkg.py", "def two(): return 1\n")
    sandbox.write("test_all.py", TEST)
    sandbox.write(".gitignore", ".env\n")
    sandbox.write(".env", "TOKEN=abcdef-123456\n")
    sandbox.roadmap(ROADMAP)

    first = sandbox.milepost("run", "--agent", sandbox.agent, "--json")
    said = [event["text"] for event in first.events if event.get("text", "").startswith("the base is red")]
    assert first.code == 1 and said, first.stdout
    assert "2 tests fail of 2 before any work" in said[0] and '[workspace] copy = [".env"]' in said[0]

    task = first.events[-1]["tasks"][0]["id"]
    told = sandbox.milepost("run", "--new", "--task", task, "--agent", sandbox.agent).stderr
    assert "the base is red: 2 tests fail of 2" in " ".join(told.split()), told
    sandbox.write("milepost.toml", '[workspace]\ncopy = [".env"]\n')
    sandbox.commit("Settings")
    again = sandbox.milepost("run", "--new", "--task", task, "--agent", sandbox.agent)
    assert again.code == 0, again.stdout + again.stderr
    assert ".env" not in sandbox.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()
    assert "abcdef-123456" not in again.stdout + again.stderr


def test_an_ignored_file_that_nobody_has_is_the_machines_fault_and_is_asked_for_by_name(sandbox: Sandbox) -> None:
    sandbox.write("pkg.py", 'TOKEN = open(".env").read()\n')
    sandbox.write("test_all.py", "from pkg import two\n\ndef test_two():\n    assert two() == 2\n")
    sandbox.write(".gitignore", ".env\n")
    sandbox.roadmap("- [ ] T1 Let two give two\n  - Verify: `pytest -q`\n")
    work = 'TOKEN = open(".env").read()\n\ndef two():\n    return 2\n'
    agent = scripted(sandbox, T1=[[write("pkg.py", work)]])

    answer = sandbox.milepost("run", "--agent", agent, "--json")
    ended = answer.events[-1]["tasks"][0]
    assert answer.code == 1 and ended["attempts"] == 1, answer.stdout + answer.stderr
    assert "the machine failed, not the work: checkouts do not have .env, which git ignores" in ended["reason"]
    assert "write .env, which is not in your repository either" in answer.stdout and "circles" not in answer.stdout
    assert sandbox.milepost("memory", "list", "--json").json == [], "it teaches nothing"


ASKS_POSTGRESQL = """import socket

def asked():
    with socket.create_connection(("127.0.0.1", PORT), timeout=20) as server:
        server.sendall(bytes.fromhex("0000000804d2162f"))
        return server.recv(1)
"""
STORE = "from store import asked\n\ndef test_a_server_answers():\n    assert asked() in (b'N', b'S')\n"


def test_a_service_of_a_compose_file_is_reached_with_the_settings_that_init_proposed_and_nothing_else(
    sandbox: Sandbox, cluster: Cluster
) -> None:
    cluster.start()
    port = cluster.url("any").partition("@")[2].partition(":")[2].partition("/")[0]
    sandbox.write("compose.yaml", f'services:\n  db:\n    image: postgres:16\n    ports:\n      - "{port}:5432"\n')
    sandbox.write("store.py", ASKS_POSTGRESQL.replace("PORT", port))
    sandbox.write("test_store.py", STORE)
    sandbox.roadmap("- [ ] T1 Add a pair\n  - Verify: `pytest -q test_store.py`\n")
    told = sandbox.milepost("init", "--yes", HOME=str(sandbox.home))
    assert f"set: Let agents and checks reach PostgreSQL at 127.0.0.1:{port}" in told.stdout, told.stdout
    assert "tests  1 of 1 pass before any work" in told.stdout
    sandbox.commit("Settings")

    added = "\n\ndef pair(a, b):\n    return (a, b)\n"
    shown = (
        STORE.replace("import asked", "import asked, pair") + "\ndef test_pair():\n    assert pair(1, 2) == (1, 2)\n"
    )
    work = [write("store.py", ASKS_POSTGRESQL.replace("PORT", port) + added), write("test_store.py", shown)]
    answer = sandbox.milepost("run", "--agent", scripted(sandbox, T1=[work]), "--json")
    assert verdicts(answer) == {"T1": "passed"}, answer.stdout + answer.stderr


SMALL = {
    "python": {
        "product.py": "def double(n):\n    return n * 2\n",
        "test_product.py": "from product import double\n\ndef test_double():\n    assert double(2) == 4\n",
    },
    "go": {
        "go.mod": "module example.org/product\n\ngo 1.19\n",
        "product.go": "package product\n\nfunc Double(n int) int { return n * 2 }\n",
        "product_test.go": 'package product\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n'
        "\tif Double(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n",
    },
    "rust": {
        "Cargo.toml": '[package]\nname = "product"\nversion = "0.1.0"\nedition = "2021"\n',
        "src/lib.rs": "pub fn double(n: i32) -> i32 {\n    n * 2\n}\n",
        "tests/product.rs": "#[test]\nfn doubles() {\n    assert_eq!(product::double(2), 4);\n}\n",
    },
}
HELPERS = {
    "python": ("product.py", "\n\ndef helper():\n    pass\n"),
    "go": ("product.go", "\nfunc Helper() {}\n"),
    "rust": ("src/lib.rs", "\npub fn helper() {}\n"),
}
GREEN_BEFORE = (
    pytest.param("python", "pytest", id="pytest"),
    pytest.param("python", "true", id="true"),
    pytest.param("go", "go test -run NoSuch ./...", id="go", marks=needs("go")),
    pytest.param("rust", "cargo test nosuch", id="cargo", marks=needs("cargo")),
)


@pytest.mark.parametrize(("language", "line"), GREEN_BEFORE)
def test_a_line_that_was_green_before_passes_no_empty_helper(sandbox: Sandbox, language: str, line: str) -> None:
    for path, text in SMALL[language].items():
        sandbox.write(path, text)
    sandbox.roadmap(f"- [ ] T1 Add what triples a number\n  - Verify: `{line}`\n")
    path, helper = HELPERS[language]
    agent = scripted(sandbox, T1=[[write(path, SMALL[language][path] + helper)]])
    answer = sandbox.milepost("run", "--agent", agent, "--json")
    assert answer.code == 1 and verdicts(answer)["T1"] in ("held", "failed"), answer.stdout + answer.stderr
    assert sandbox.mileposts() == [] and "- [ ] T1" in (sandbox.repo / "ROADMAP.md").read_text()


def test_plain_boxes_without_tests_are_held_and_each_lands_at_a_word_of_the_owner(sandbox: Sandbox) -> None:
    sandbox.write("README.md", "# Notes\n")
    boxes = {"1.1": "licence.txt", "1.2": "authors.txt", "1.3": "install.txt"}
    sandbox.roadmap("".join(f"- [ ] {box} Write {name}\n  - write {name} words\n" for box, name in boxes.items()))
    ended = sandbox.run("--json")
    assert ended.code == 1 and verdicts(ended) == dict.fromkeys(boxes, "held"), ended.stdout + ended.stderr
    assert sandbox.mileposts() == []

    for box in boxes:
        taken = sandbox.milepost("accept", box)
        assert taken.code == 0 and "accepted by Ada, not verified" in taken.stdout, taken.stderr
    assert sandbox.mileposts() == [*boxes]
    assert "[ ]" not in (sandbox.repo / "ROADMAP.md").read_text()
    assert all((sandbox.repo / name).read_text() == "words\n" for name in boxes.values())
