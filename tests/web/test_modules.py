"""The modules of the page that need no server, in the browser that will run them."""

from __future__ import annotations

from tests.web.modules import Modules

DRAWN = """async ({html, render, signal, computed, useComputed, useState, useEffect}) => {
    const count = signal(1), twice = computed(() => count.value * 2);
    const effects = [];
    function Row({name}) {
        const [said] = useState('says');
        const shown = useComputed(() => `${name} ${said} ${twice.value}`);
        useEffect(() => { effects.push(name); }, []);
        return html`<li title=${name}>${shown}</li>`;
    }
    const main = document.querySelector('main');
    render(html`<ul><${Row} name="one" /><${Row} name="<b>two</b>" /></ul>`, main);
    count.value = 21;
    await new Promise(drawn => setTimeout(drawn, 50));
    return [[...main.querySelectorAll('li')].map(row => row.textContent), main.querySelectorAll('b').length, effects];
}"""


def test_the_libraries_draw_what_signals_say_and_no_text_becomes_markup(modules: Modules) -> None:
    rows, elements, effects = modules.call("libraries.js", DRAWN)

    assert rows == ["one says 42", "<b>two</b> says 42"]
    assert elements == 0
    assert sorted(effects) == ["<b>two</b>", "one"]


def test_the_libraries_give_all_that_the_page_is_written_with(modules: Modules) -> None:
    given = modules.call("libraries.js", "libraries => Object.keys(libraries).sort()")

    assert given == [
        *("Fragment", "batch", "computed", "effect", "h", "html", "render", "signal", "untracked", "useCallback"),
        *("useComputed", "useEffect", "useLayoutEffect", "useMemo", "useRef", "useSignal", "useSignalEffect"),
        "useState",
    ]


def test_an_id_is_taken_off_a_text_only_where_it_is_that_of_the_task(modules: Modules) -> None:
    texts = [["3.1 Colour: may it run?", "3.1"], ["3.10 Colour", "3.1"], ["names no file", "1.1"], ["a plan", ""]]

    assert modules.call("format.js", "({withoutId}, texts) => texts.map(one => withoutId(...one))", texts) == [
        "Colour: may it run?",
        "3.10 Colour",
        "names no file",
        "a plan",
    ]


def test_commands_are_found_in_words_and_names_of_files_are_no_changes(modules: Modules) -> None:
    told = "milepost resume goes on with it; or: git add ROADMAP.md && git commit -m Roadmap, then milepost made it"
    assert modules.call("wording.js", "({commandsIn}, text) => commandsIn(text)", told) == [
        *("", "milepost resume", " goes on with it; or: ", "git add ROADMAP.md && git commit -m Roadmap"),
        ", then milepost made it",
    ]
    assert modules.call("wording.js", "({quoted}) => [quoted('command:./a.sh'), quoted('a b')]") == [
        "command:./a.sh",
        "'a b'",
    ]
    diff = ["--- /dev/null", "+++ b/x", "@@ -1,2 +1,2 @@", "--- a comment", "+++ one", " kept", "--- a/y"]
    assert modules.call("wording.js", "({tones}, lines) => tones(lines)", diff) == [
        *("soft", "soft", "soft", "minus", "plus", None, "soft"),
    ]
