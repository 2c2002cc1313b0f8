// Where the person was when they last looked, by run, kept in this browser until they have seen what happened since.
import { html, signal } from './libraries.js';
import { clock, money } from './format.js';
import { remember, remembered } from './layout.js';
import { read, state } from './store.js';

const AWAY_MS = 60_000;
const KEPT = 20; // runs
const VERDICTS = ['passed', 'failed', 'unverified'];

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

/** {at, seq, cost} of when they left, where something ended since; otherwise null. */
function since({ run, ends }) {
  const mark = marks.value.find(one => one.run === run?.run);
  const isNews = mark && here.value - mark.at > AWAY_MS && ends.some(end => end.seq > mark.seq);
  return isNews ? mark : null;
}

function seen() {
  marks.value = marks.value.filter(one => one.run !== state.run.run);
  remember('left', marks.value);
}

/** What happened while nobody looked. */
export function Since() {
  const now = read('head');
  const left = since(now);
  if (!left) return null;
  const ends = now.ends.filter(end => end.seq > left.seq);
  const told = VERDICTS.map(verdict => [verdict, ends.filter(end => end.status === verdict).map(end => end.task)]);
  return html`<section class="strip since" aria-label="Since you left">
    <span>Since you left at ${clock(left.at / 1000).slice(0, 5)}:</span>
    ${told.filter(([, tasks]) => tasks.length).map(([verdict, tasks]) => html`<span class=${`v-${verdict}`}>
      <b>${tasks.length}</b> ${verdict} (${named(tasks)})
    </span>`)}
    <span>${money(Math.max(0, now.cost - left.cost))} spent</span>
    <button class="button small" onClick=${seen}>Seen</button>
  </section>`;
}

const MOST = 6;
const more = count => (count > 0 ? `, and ${count} more` : '');
const named = tasks => tasks.slice(0, MOST).join(', ') + more(tasks.length - MOST);
