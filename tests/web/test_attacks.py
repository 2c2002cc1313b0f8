"""What other sites, previewed apps and hostile texts try in a browser, and that nothing comes of it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

import milepost
from milepost.core.events import AgentSaid, CommandStarted, Steered, ToolUsed
from tests.web.chromium import Driver, Pages, caught_up
from tests.web.hostile import hostile_site
from tests.web.serving import Served, served
from tests.web.story import ASKED, HOSTILE, STORY, Told
from tests.web.told import Story, new_story

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Dialog, Page

STEER: Final = json.dumps({"verb": "stop", "task": "", "text": "now"})
# Each way tells what came of it in one word; a page that could read or change something would tell more.
TRY_ALL: Final = """async ours => {
  const told = {};
  const tried = async (name, act) => { try { told[name] = await act(); } catch { told[name] = 'refused'; } };
  const loaded = (tag, address) => new Promise(done => {
    const one = document.createElement(tag);
    one.onload = () => done('loaded');
    one.onerror = () => done('refused');
    one.src = address;
    document.body.append(one);
  });
  const body = '%s';
  const json = {'Content-Type': 'application/json', 'X-Milepost': '1'};
  await tried('read', async () => (await fetch(ours + '/api/runs', {credentials: 'include'})).text());
  await tried('read blindly', async () => (await (await fetch(ours + '/api/runs',
    {mode: 'no-cors', credentials: 'include'})).text()) || 'nothing');
  await tried('change', async () => (await fetch(ours + '/api/steer',
    {method: 'POST', headers: json, body, credentials: 'include'})).text());
  await tried('change blindly', async () => (await (await fetch(ours + '/api/steer',
    {method: 'POST', mode: 'no-cors', credentials: 'include', body})).text()) || 'nothing');
  await tried('script', () => loaded('script', ours + '/api/runs'));
  await tried('module of the page', () => loaded('script', ours + '/static/state.js'));
  await tried('picture', () => loaded('img', ours + '/static/icon.svg'));
  await tried('stream', () => new Promise(done => {
    const source = new EventSource(ours + '/api/stream', {withCredentials: true});
    source.onerror = () => { source.close(); done('refused'); };
    source.addEventListener('hello', () => done('heard'));
  }));
  return told;
}""".replace("%s", STEER.replace("\\", "\\\\"))
NOTHING: Final = {
    "read": "refused", "read blindly": "refused", "change": "refused", "change blindly": "refused",
    "script": "refused", "module of the page": "refused", "picture": "refused", "stream": "refused",
}  # fmt: skip
FRAMED: Final = """ours => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.onload = () => { try { done(frame.contentDocument.title); } catch { done('another site'); } };
  frame.src = ours + '/';
  document.body.append(frame);
})"""
FORM: Final = """([ours, body]) => {
  const form = Object.assign(document.createElement('form'), {
    method: 'post', action: ours + '/api/steer', enctype: 'text/plain' });
  form.append(Object.assign(document.createElement('input'), {name: body}));
  document.body.append(form);
  form.submit();
}"""
APP: Final = """<!doctype html><title>an app</title><body><script>
const told = globalThis.told = {};
const tried = (name, act) => { try { told[name] = String(act()); } catch { told[name] = 'refused'; } };
tried('the page', () => parent.document.title);
tried('its address', () => parent.location.href);
tried('cookies', () => document.cookie);
tried('storage', () => localStorage.length);
tried('away', () => { top.location = 'http://evil.example/'; return 'tried'; });
tried('a window', () => open('http://evil.example/'));
tried('a dialog', () => { alert('taken'); return 'tried'; });
</script></body>"""
BAD: Final = "<img src=x onerror=alert(1)><script src=//evil.example></script>\u202egnp.exe \u200b\x1b]0;taken\x07"
# Later, as the page's own code would: what a driver evaluates at once may evaluate more.
INSIDE: Final = """() => new Promise(told => setTimeout(() => {
  const tried = act => { try { act(); return 'done'; } catch (error) { return error.name; } };
  const one = document.createElement('p');
  const script = document.createElement('script');
  const link = document.createElement('a');
  told({
    markup: tried(() => { one.innerHTML = '<b>taken</b>'; }),
    after: tried(() => document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=alert(1)>')),
    written: tried(() => document.write('taken')),
    parsed: tried(() => new DOMParser().parseFromString('<b>taken</b>', 'text/html')),
    handler: tried(() => one.setAttribute('onclick', 'document.title = "taken"')),
    script: tried(() => { script.textContent = 'document.title = "taken"'; document.body.append(script); }),
    evaluated: tried(() => eval('1')),
    made: tried(() => new Function('return 1')),
    later: tried(() => setTimeout('document.title = "taken"', 0)),
    policy: tried(() => trustedTypes.createPolicy('ours', {})),
    address: tried(() => {
      link.href = 'javascript:document.title="taken"';
      document.body.append(link);
      link.click();
    }),
  });
}))"""
# All that a person could see or a screen reader could read out, each with where it is.
ALL_WORDS: Final = """() => {
  const words = [['title', document.title]];
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (nodes.nextNode()) words.push([nodes.currentNode.parentElement.outerHTML.slice(0, 80), nodes.currentNode.data]);
  for (const one of document.body.querySelectorAll('*'))
    for (const name of ['title', 'aria-label', 'placeholder']) words.push([name, one.getAttribute(name) ?? '']);
  return words;
}"""
UNSEEN: Final = set("\x00\x07\b\x1b\x7f\x9b\u200b\u202e\u2066\u2069")


def unchanged(story: Story, last: int) -> None:
    """Nothing happened to the run: the gate still waits, and nobody steered it."""
    assert story.last() == last
    assert [gate.shown for gate in milepost.waiting_gates(story.folder / "ROADMAP.md")] == [ASKED]


def test_another_site_on_this_machine_reads_and_changes_nothing(pages: Pages, story: Story, server: Served) -> None:
    page = server.enter(pages.open())
    caught_up(page, story.last())
    last = story.last()
    page.get_by_role("button", name="Report", exact=True).click()
    preview = urlsplit(page.locator("iframe").get_attribute("src") or "").port
    with hostile_site() as site:
        for host in ("127.0.0.1", "localhost"):
            other = pages.another(page.context, f"http://{host}:{site.port}/")
            assert other.evaluate(TRY_ALL, server.origin) == NOTHING, host
            assert other.evaluate(FRAMED, server.origin) == "another site"
            assert not [frame.url for frame in other.frames if frame.url.startswith(server.origin)]
            with other.expect_navigation() as posted:
                other.evaluate(FORM, [server.origin, STEER])
            assert posted.value.status == 403
        # Ports share cookies, names do not: this is why what the cookie opens asks for the origin as well.
        assert (f"milepost_{server.port}=" in site.cookies["127.0.0.1"], site.cookies["localhost"]) == (True, "")
    assert page.goto(f"http://127.0.0.1:{preview}/").status == 421  # type: ignore[union-attr]
    pages.errors.clear()
    unchanged(story, last)


def test_a_name_that_is_made_to_lead_here_opens_nothing(driver: Driver, story: Story, server: Served) -> None:
    browser = driver.launch("--host-resolver-rules=MAP evil.example 127.0.0.1")
    try:
        page = browser.new_page()
        evil = f"http://evil.example:{server.port}"
        answer = page.goto(f"{evil}/")
        assert answer is not None
        assert (answer.status, answer.json()["error"]) == (421, "this server has another name")
        for path, method in [("/api/runs", "GET"), ("/api/stream", "GET"), ("/api/steer", "POST"), ("/open", "GET")]:
            status = page.evaluate(
                "([path, method]) => fetch(path, {method, headers: {'X-Milepost': '1'}}).then(one => one.status)",
                [path, method],
            )
            assert status == 421, path
    finally:
        browser.close()
    unchanged(story, story.last())


def test_a_hostile_app_in_its_frame_reaches_nothing_of_the_page(pages: Pages, story: Story, server: Served) -> None:
    built = story.folder / "dist" / "index.html"
    built.parent.mkdir()
    built.write_text(APP)
    page = server.enter(pages.open())
    dialogs = dialogs_of(page)
    headers: list[dict[str, str]] = []
    caught_up(page, story.last())
    last = story.last()
    page.on("request", lambda request: headers.append({"url": request.url, **request.all_headers()}))
    page.get_by_role("button", name="App", exact=True).click()
    frame = page.wait_for_selector("iframe").content_frame()  # type: ignore[union-attr]
    assert frame is not None
    frame.wait_for_function("() => globalThis.told && 'a dialog' in told")

    told: dict[str, Any] = frame.evaluate("told")
    assert {name: told[name] for name in ("the page", "its address", "cookies", "storage")} == dict.fromkeys(
        ("the page", "its address", "cookies", "storage"), "refused"
    )
    assert told["a window"] == "null"
    assert frame.evaluate(TRY_ALL, server.origin) == NOTHING
    assert [one.get("cookie") for one in headers if server.origin not in one["url"]] == [None]
    assert (dialogs, len(page.context.pages), urlsplit(page.url).netloc) == ([], 1, urlsplit(server.origin).netloc)
    assert page.evaluate("milepost.state.seq") == last
    pages.errors.clear()
    unchanged(story, last)


def test_hostile_texts_are_only_shown_and_nothing_inside_the_page_makes_markup_or_code(
    pages: Pages, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    story = new_story(tmp_path / "home" / "durations", [hostile(task) for task in STORY])
    tell_hostile(story)
    with served(story.folder) as server:
        page = pages.open()
        asked: set[str] = set()
        dialogs = dialogs_of(page)
        page.on("request", lambda request: asked.add(urlsplit(request.url).netloc))
        server.enter(page, "#task=1.1")
        caught_up(page, story.last())
        page.locator(".p-code .file").last.scroll_into_view_if_needed()
        for shown in (look_at_everything(page), look_at_files(page), look_at_gate(page)):
            assert any("<img src=x onerror=alert(1)>" in words for _, words in shown)
            assert [(where, words) for where, words in shown if UNSEEN & set(words)] == []
            assert page.locator("img, body script, iframe, a[href*=evil]").count() == 0
        expect(page).to_have_title(f"(1) run {story.run} · Milepost")

        outcome = page.evaluate(INSIDE)
        page.evaluate("new Promise(later => setTimeout(later, 50))")
        assert {name for name, end in outcome.items() if end == "done"} == {"address"}
        assert page.title() == f"(1) run {story.run} · Milepost"
        assert (asked, dialogs) == ({f"127.0.0.1:{server.port}"}, [])
    pages.errors.clear()
    story.close()


def dialogs_of(page: Page) -> list[str]:
    """What a page opens dialogs to say, from now on."""
    heard: list[str] = []

    def hear(dialog: Dialog) -> None:
        heard.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    return heard


def hostile(task: Told) -> Told:
    """A task with nothing but hostile words and names in it."""
    tries = tuple(
        replace(
            tried,
            agent=f"claude{BAD}" if tried.files else tried.agent,
            said=(BAD, *tried.said),
            files={**tried.files, f"durations/<img src=x onerror=alert(1)>\u202e{task.id}.py": f'"""{BAD}"""\n'}
            if tried.files
            else tried.files,
            ran=(*(replace(ran, lines=(*HOSTILE, *ran.lines)) for ran in tried.ran),),
            checks=tuple(replace(check, summary=f"{check.summary} {BAD}", log=BAD) for check in tried.checks),
        )
        for tried in task.tries
    )
    return replace(task, title=f"{task.title} {BAD}", tries=tries, asks=BAD)


def tell_hostile(story: Story) -> None:
    """More of what others wrote, in events that a story does not have by itself."""
    roadmap = story.folder / "ROADMAP.md"
    roadmap.write_text(roadmap.read_text().replace("Show a table in colour", f"Show {BAD[:-12]}"))
    run = story.run
    story.tell(
        AgentSaid(run=run, task="1.1", attempt=1, text=BAD),
        ToolUsed(
            run=run, task="1.1", attempt=1, number=9, tool=BAD, summary=BAD, failed=True, duration_ms=1, printed=BAD
        ),
        CommandStarted(run=run, task="1.1", attempt=1, command="deadbeef", argv=f"echo {BAD}", by="agent"),
        Steered(run=run, task="1.1", what=BAD),
    )


def look_at_everything(page: Page) -> list[tuple[str, str]]:
    page.locator(".p-talk details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    page.locator(".screen .line").first.wait_for()
    words: list[tuple[str, str]] = page.evaluate(ALL_WORDS)
    return words


def look_at_files(page: Page) -> list[tuple[str, str]]:
    page.get_by_role("button", name="Files", exact=True).click()
    page.get_by_role("treeitem", name="1.1.py").click()
    page.get_by_label("Text of").locator(".row").first.wait_for()
    return look_at_everything(page)


def look_at_gate(page: Page) -> list[tuple[str, str]]:
    page.keyboard.press("Escape")
    page.locator(".a-asking").click()
    page.get_by_role("dialog").locator(".shown", has_text="<img src=x").wait_for()
    return look_at_everything(page)
