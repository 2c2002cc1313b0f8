from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest

from milepost.ship.builders.site_names import SiteNames, hashed_names, is_text


def named(files: Mapping[str, str]) -> SiteNames:
    digests = {path: hashlib.sha256(text.encode()).hexdigest() for path, text in files.items()}
    return hashed_names(digests, {path: text for path, text in files.items() if is_text(path)})


def changed(files: Mapping[str, str]) -> set[str]:
    return set(named(files).names)


def test_references_of_pages_styles_and_modules_are_rewritten() -> None:
    made = named(
        {
            "index.html": '<link href="css/a.css?v=1"><script src="/app.js"></script><img srcset="a.png 2x">',
            "css/a.css": 'b { background: url("../a.png#x") }',
            "app.js": 'import { b } from "./lib/b.js";\nexport * from "./lib/b.js"; import("./lib/b.js")',
            "lib/b.js": 'new URL("../a.png", import.meta.url)',
            "a.png": "a",
        }
    )
    names = made.names
    assert names.keys() == {"css/a.css", "app.js", "lib/b.js", "a.png"}
    css, app, lib, png = (names[one].rpartition("/")[2] for one in ("css/a.css", "app.js", "lib/b.js", "a.png"))
    assert made.texts["index.html"] == (
        f'<link href="css/{css}?v=1"><script src="/{app}"></script><img srcset="{png} 2x">'
    )
    assert made.texts["css/a.css"] == f'b {{ background: url("../{png}#x") }}'
    assert made.texts["app.js"].count(f"./lib/{lib}") == 3
    assert made.texts["lib/b.js"] == f'new URL("../{png}", import.meta.url)'


def test_a_name_changes_with_what_the_file_leads_to_also_in_a_ring() -> None:
    page = {"index.html": '<script src="a.js"></script>'}
    ring = {"a.js": 'import "./b.js"', "b.js": 'import "./a.js"; 1'}
    one, other = named(page | ring), named(page | ring | {"b.js": 'import "./a.js"; 2'})
    assert one.names["a.js"] != other.names["a.js"]
    assert one.names == named(page | ring).names


@pytest.mark.parametrize(
    "files",
    [
        {"index.html": '<script src="a.js"></script>', "a.js": "", "sw.js": 'cache("a.js")'},
        {"index.html": '<script src="a.js"></script><script>load("./p/" + "a.js")</script>', "a.js": ""},
        {"index.html": '<script src="a.js"></script>', "a.js": "import(`./p/${name}.js`)"},
        {"index.html": '<base href="/x/"><script src="a.js"></script>', "a.js": ""},
        {"index.html": '<script src="a.js" integrity="sha384-x"></script>', "a.js": ""},
        {"index.html": '<script src="https://example.org/a.js"></script>', "a.js": ""},
        {"index.html": "<script src=a.js></script>", "a.js": ""},
        {"index.html": '<script src="a-4f3c2b1a.js"></script>', "a-4f3c2b1a.js": ""},
        {"index.html": '<link href="favicon.ico">', "favicon.ico": ""},
        {"index.html": '<a href="b.html">b</a>', "b.html": ""},
    ],
)
def test_a_file_keeps_its_name_where_a_new_one_could_break_something(files: dict[str, str]) -> None:
    assert changed(files) == set()


def test_a_bare_name_in_a_module_is_not_a_file_beside_it() -> None:
    page = {"index.html": '<script src="a.js"></script>'}
    assert changed(page | {"a.js": 'import "b.js"', "b.js": ""}) == {"a.js"}


def test_what_a_script_may_ask_for_by_a_name_that_it_puts_together_stays_too() -> None:
    made = named({"index.html": '<img src="a.png"><script>img("a" + 1)</script>', "a.png": "a"})
    assert made.kept == {"a.png"}
    assert named({"index.html": '<img src="a.png">', "a.png": "a"}).kept == frozenset()
