"""How the page looks, on a screen, on a phone, in the dark and on paper; and the few lines that it runs."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

_OWN = """
:root { --page: var(--paper); --card: var(--panel); --soft: var(--ink-soft); --passed: var(--green);
  --failed: var(--red); --asks: var(--amber); --held: var(--blue); --info: var(--accent); --added: var(--green-soft);
  --removed: var(--red-soft); --act: var(--blue); --verify: light-dark(#c98a12, #d9a441); --land: var(--green);
  --code: var(--raised); }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 var(--sans);
  -webkit-text-size-adjust: 100%; }
main, header, footer { max-width: 70rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .75rem; }
h3 { font-size: .95rem; margin: 1.25rem 0 .4rem; }
p { margin: .4rem 0; }
a { color: var(--info); }
code, pre, kbd { font-family: var(--mono); font-size: .86em; }
code { background: var(--code); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
.soft { color: var(--soft); }
.facts { color: var(--soft); display: flex; flex-wrap: wrap; gap: .1rem 1.25rem; margin: .5rem 0 0; padding: 0;
  list-style: none; font-size: .92rem; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--card); padding: .5rem 1rem; }
:focus-visible { outline: 3px solid var(--info); outline-offset: 2px; border-radius: 4px; }
.state { display: inline-block; border: 1px solid currentColor; border-radius: 999px; padding: 0 .7rem;
  font-size: .85rem; vertical-align: middle; font-weight: 500; }
.answers { display: grid; gap: 1rem; grid-template-columns: repeat(2, minmax(0, 1fr)); margin-top: 1.5rem; }
.answer { background: var(--card); border: 1px solid var(--line); border-top: 4px solid var(--soft);
  border-radius: 8px; padding: .9rem 1.1rem 1rem; min-width: 0; }
.answer h2 { margin: 0; font-size: 1rem; }
.answer .figure { font-size: 1.9rem; font-weight: 650; line-height: 1.2; margin: .15rem 0 .4rem; }
.answer .figure small { font-size: 1rem; font-weight: 400; color: var(--soft); }
.answer ul { list-style: none; margin: 0; padding: 0; font-size: .93rem; }
.answer li { padding: .3rem 0; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.answer li p { margin: .1rem 0 0; color: var(--soft); }
.answer li:has(> .mark) { padding-left: 1.5rem; }
.answer li > .mark { margin-left: -1.5rem; width: 1.2rem; }
.answer.passed { border-top-color: var(--passed); }
.answer.failed { border-top-color: var(--failed); }
.answer.asks { border-top-color: var(--asks); }
.answer.cost { border-top-color: var(--info); }
.passed .mark, .mark.passed, .word.passed { color: var(--passed); }
.failed .mark, .mark.failed, .word.failed { color: var(--failed); }
.mark.unverified, .mark.asking, .word.unverified, .word.asking { color: var(--asks); }
.mark.held, .word.held, .mark.accepted, .word.accepted { color: var(--held); }
.counts .word { margin-right: 1rem; font-weight: 600; }
.mark.working, .word.working { color: var(--info); }
.mark { font-weight: 700; display: inline-block; width: 1.2em; text-align: center; }
.panel { background: var(--card); border: 1px solid var(--line); border-radius: 8px; overflow: hidden; }
.scroll { overflow: auto; max-height: 75vh; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .35rem .75rem; border-bottom: 1px solid var(--line); vertical-align: top; }
th { font-weight: 600; color: var(--soft); font-size: .85rem; }
tr:last-child > td, tr:last-child > th { border-bottom: 0; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.wide { overflow-wrap: anywhere; }
tfoot td { font-weight: 600; }
.timeline { table-layout: fixed; }
.timeline th, .timeline td { vertical-align: middle; padding-top: .15rem; padding-bottom: .15rem; }
.timeline thead th { position: sticky; top: 0; background: var(--card); z-index: 1; padding-top: .5rem; }
.timeline .who { width: 17rem; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-weight: 400;
  font-size: .9rem; color: var(--ink); }
.timeline .took { width: 6.5rem; }
.timeline svg { display: block; width: 100%; height: 24px; }
.ticks { display: flex; justify-content: space-between; font-variant-numeric: tabular-nums; font-weight: 400; }
.track { fill: var(--code); }
.act { fill: var(--act); } .verify { fill: var(--verify); } .land { fill: var(--land); }
.rest { stroke: var(--soft); stroke-dasharray: 3 3; vector-effect: non-scaling-stroke; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; font-size: .88rem; color: var(--soft);
  margin: .5rem 0 0; padding: 0; list-style: none; }
.legend svg { width: .8rem; height: .8rem; margin-right: .35rem; vertical-align: -.05rem; }
.controls { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0 0 .75rem; }
button { font: inherit; font-size: .88rem; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: 999px; padding: .25rem .9rem; cursor: pointer; }
button[aria-pressed="true"] { background: var(--ink); color: var(--card); border-color: var(--ink); }
.task { border-top: 1px solid var(--line); }
.task:first-child { border-top: 0; }
.task > summary { display: flex; gap: .25rem .6rem; align-items: baseline; padding: .6rem 1rem; cursor: pointer;
  flex-wrap: wrap; }
.task > summary:hover { background: var(--code); }
.task > summary { list-style: none; }
.task > summary::-webkit-details-marker { display: none; }
.task > summary::before { content: "▸"; color: var(--soft); width: .8em; }
.task[open] > summary::before { content: "▾"; }
.task > summary .title { flex: 1 1 12rem; min-width: 0; overflow-wrap: anywhere; font-weight: 550; }
.task > summary .aside { color: var(--soft); font-size: .88rem; font-variant-numeric: tabular-nums; }
.task .body { padding: 0 1rem 1.25rem 2.6rem; min-width: 0; }
.task .body .panel { overflow-x: auto; }
.attempt { border-left: 3px solid var(--line); padding: .1rem 0 .1rem .9rem; margin: .6rem 0; }
.attempt.passed { border-left-color: var(--passed); }
.attempt.failed { border-left-color: var(--failed); }
.said, .log { white-space: pre-wrap; overflow-wrap: anywhere; background: var(--code); border-radius: 6px;
  padding: .6rem .8rem; margin: .4rem 0; max-height: 22rem; overflow: auto; }
.file { border-top: 1px solid var(--line); }
.file:first-child { border-top: 0; }
.file > summary { padding: .35rem .8rem; cursor: pointer; font-family: var(--mono); font-size: .86rem;
  overflow-wrap: anywhere; }
.plus { color: var(--passed); } .minus { color: var(--failed); }
.diff { margin: 0; overflow: auto; max-height: 40rem; font-size: .82rem; line-height: 1.45; tab-size: 4;
  border-top: 1px solid var(--line); }
.diff > * { display: block; white-space: pre; padding: 0 .8rem; min-width: max-content; text-decoration: none; }
.questions ins, .questions del { text-decoration: none; font-family: var(--mono); font-size: .86em; }
.questions ins { background: var(--added); } .questions del { background: var(--removed); }
.questions td { width: 30%; }
.diff ins { background: var(--added); } .diff del { background: var(--removed); }
.diff .hunk { color: var(--soft); background: var(--code); }
.note { color: var(--soft); font-size: .88rem; padding: .4rem .8rem; margin: 0; }
.columns { display: grid; gap: 1rem; grid-template-columns: repeat(2, minmax(0, 1fr)); }
.columns > :only-child { grid-column: 1 / -1; }
footer { color: var(--soft); font-size: .85rem; padding-top: 2rem; padding-bottom: 3rem; }
[hidden] { display: none !important; }
@media (max-width: 44rem) {
  main, header, footer { padding-left: .9rem; padding-right: .9rem; }
  .answers, .columns { grid-template-columns: minmax(0, 1fr); }
  .timeline .who { width: 4.5rem; } .timeline .took { width: 4.6rem; }
  .timeline .title { display: none; }
  th, td { padding-left: .55rem; padding-right: .55rem; }
  .task > summary { padding: .6rem .75rem; } .task .body { padding: 0 .75rem 1rem; }
  .task > summary .title { flex-basis: 60%; }
  .ticks .between { display: none; }
}
@media print {
  :root { color-scheme: light; --page: #fff; --card: #fff; --ink: #000; --ink-soft: #444; --line: #bbb;
    --code: #f2f2f2; }
  body { font-size: 11pt; } .controls, .skip { display: none; }
  .scroll, .diff, .said, .log { max-height: none; overflow: visible; }
  .answer, .attempt, tr, .task > summary { break-inside: avoid; }
  .diff > * { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 0; }
}
"""


@cache
def style() -> str:
    """The whole style: the colours and letters of the live page, then the report's own rules."""
    tokens = files("milepost") / "web" / "static" / "styles" / "tokens.css"  # a file of ours, not that room's code
    return tokens.read_text(encoding="utf-8") + _OWN


SCRIPT = """
(() => {
  const tasks = [...document.querySelectorAll('.task')];
  const controls = document.querySelector('.controls');
  const reveal = () => {
    const aim = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (aim && aim.tagName === 'DETAILS') { aim.hidden = false; aim.open = true; aim.scrollIntoView(); }
  };
  if (controls) {
    controls.hidden = false;
    const filters = [...controls.querySelectorAll('[data-show]')];
    for (const filter of filters) {
      filter.addEventListener('click', () => {
        for (const other of filters) other.setAttribute('aria-pressed', String(other === filter));
        const wanted = filter.dataset.show;
        for (const task of tasks) task.hidden = wanted !== 'all' && task.dataset.standing !== wanted;
      });
    }
    const unfold = controls.querySelector('[data-unfold]');
    unfold.addEventListener('click', () => {
      const open = unfold.getAttribute('aria-pressed') !== 'true';
      unfold.setAttribute('aria-pressed', String(open));
      for (const task of tasks) if (!task.hidden) task.open = open;
    });
  }
  addEventListener('hashchange', reveal);
  reveal();
})();
"""
