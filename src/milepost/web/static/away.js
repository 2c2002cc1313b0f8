// Where the person was when they last looked, by run, kept in this browser until they have seen what happened since.
import { html, signal } from './libraries.js';
import { clock, money } from './format.js';
import { remember, remembered } from './layout.js';
import { atServer, read, state } from './store.js';

const AWAY_MS = 60_000;
const KEPT = 20; // runs
const VERDICTS = ['passed', 'accepted', 'held', 'failed', 'unverified'];

const marks = signal(remembered('left', []));
const here = signal(Date.now()); // since when they look

function leave() {
  if (!state.run || since(state)) return; // what is not yet seen is still to be told
  const mark = { run: state.run.run, at: Date.now(), seq: state.seq, cost: state.cost };
  marks.value = [mark, ...marks.value.filter(one => one.run !== mark.run)].slice(0, KEPT);
  remember('left', marks.value);
}

addEventListener('pagehide', leave);
document.addEventListener('visibilitychange', () => {
  if (document.hidden) leave();
  else here.value = Date.now();
});

/** When they left, what ended from then until they came back, and what was spent; null where nothing ended. */
function since({ run, ends, costs }) {
  const mark = marks.value.find(one => one.run === run?.run);
  if (!mark || here.value - mark.at <= AWAY_MS) return null;
  const back = atServer(here.value);
  const missed = ends.filter(end => end.seq > mark.seq && end.at <= back);
  const [, spent] = costs.findLast(([at]) => at <= back) ?? [0, 0];
  return missed.length ? { at: mark.at, ends: missed, cost: Math.max(0, spent - mark.cost) } : null;
}

function seen() {
  marks.value = marks.value.filter(one => one.run !== state.run.run);
  remember('left', marks.value);
}

/** What happened while nobody looked. */
export function Since() {
  const left = since(read('head'));
  if (!left) return null;
  const { ends } = left;
  const told = VERDICTS.map(verdict => [verdict, ends.filter(end => end.status === verdict).map(end => end.task)]);
  return html`<section class="strip since" aria-label="Since you left">
    <span>Since you left at ${clock(left.at / 1000).slice(0, 5)}:</span>
    ${told.filter(([, tasks]) => tasks.length).map(([verdict, tasks]) => html`<span class=${`v-${verdict}`}>
      <b>${tasks.length}</b> ${verdict} (${named(tasks)})
    </span>`)}
    <span>${money(left.cost)} spent</span>
    <button class="button small" onClick=${seen}>Seen</button>
  </section>`;
}

const MOST = 6;
const more = count => (count > 0 ? `, and ${count} more` : '');
const named = tasks => tasks.slice(0, MOST).join(', ') + more(tasks.length - MOST);
