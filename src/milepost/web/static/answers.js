// The four answers: what is done with proof, what failed and why, what waits for you, what it cost.
import { html } from './libraries.js';
import { inOneLine, many, money, short, ticking, withId } from './format.js';
import { Inline } from './inline.js';
import { face } from './layout.js';
import { pick } from './route.js';
import { glance } from './state.js';
import { alive, asking, facts, now, plan, read, second } from './store.js';

const MOST_NAMED = 3;
const NEARLY = 0.9;

function Answer({ kind, count, label, text, act, children }) {
  const words = html`<span class="count">${count}</span>
    <span class="words"><span class="label">${label}</span><span class="text">${text}</span></span>${children}`;
  if (act) return html`<button class=${`answer a-${kind}`} onClick=${act}>${words}</button>`;
  return html`<div class=${`answer a-${kind}`}>${words}</div>`;
}

const evidence = task => task && (() => {
  pick(task.id);
  face('code');
});

export function Answers() {
  const by = glance(read('head', 'roadmap'));
  return html`<section class="answers" aria-label="The run at a glance">
    <${Done} by=${by} /><${Refused} by=${by} /><${Waiting} by=${by} /><${Cost} />
  </section>`;
}

function Done({ by }) {
  const state = read('head');
  if (state.state === 'none') return html`<${Planned} />`;
  const newest = by.passed.reduce((one, other) => (one && one.endedAt > other.endedAt ? one : other), null);
  return html`<${Answer}
    kind=${by.passed.length ? 'passed' : 'none'}
    count=${by.passed.length}
    label=${`of ${state.order.length} done, with proof`}
    text=${rest(state, by)}
    act=${evidence(newest)}
  />`;
}

function Planned() {
  const open = plan.value.tasks.filter(task => !task.done).length;
  const label = `${open === 1 ? 'task' : 'tasks'} planned`;
  return html`<${Answer} kind="none" count=${open} label=${label} text="nothing has started" />`;
}

function rest(state, { accepted, held, failed, unverified, working, asking: asked, waiting }) {
  if (state.state === 'finished') {
    const undone = [...held, ...failed, ...unverified, ...waiting];
    const taken = accepted.length ? `${accepted.length} accepted, not verified · ` : '';
    return taken + (undone.length ? `${undone.length} not done: ${named(undone)}` : 'nothing is left');
  }
  const open = [...waiting, ...working, ...asked, ...held];
  const waits = untilService(state);
  if (!alive.value) return `not running · ${many(open.length, 'task')} open${waits && ` · ${waits}`}`;
  const busy = working.filter(task => !state.waits.has(task.id));
  const doing = busy.length ? `${named(busy)} in progress` : waits || 'nothing in progress now';
  return `${doing} · ${waiting.length} to come`;
}

/** How long until the first service that is waited for can be asked; empty where none is, or it can be now. */
function untilService({ waits }) {
  if (!waits.size) return '';
  second.value;
  const [id, until] = [...waits].reduce((one, other) => (other[1] < one[1] ? other : one));
  return until > now() ? `${id} waits for its service: ${ticking(until - now())} left` : '';
}

function named(tasks) {
  const names = tasks.slice(0, MOST_NAMED).map(task => task.id).join(', ');
  return tasks.length > MOST_NAMED ? `${names} and ${tasks.length - MOST_NAMED} more` : names;
}

const Named = ({ id, text }) => html`<${Inline} text=${withId(text, id)} />`;

function Refused({ by }) {
  const [first] = [...by.failed, ...by.unverified];
  const none = by.refusals ? `${many(by.refusals, 'attempt')} refused` : 'nothing was refused';
  const kind = by.failed.length ? 'failed' : by.unverified.length ? 'unverified' : 'none';
  return html`<${Answer}
    kind=${kind}
    count=${by.failed.length}
    label=${`failed${by.unverified.length ? ` · ${by.unverified.length} unverified` : ''}`}
    text=${first ? html`<${Named} id=${first.id} text=${first.reason} />` : none}
    act=${evidence(first)}
  />`;
}

function Waiting({ by: { gates, held } }) {
  const [first] = gates;
  const wait = gates.length === 1 ? 'waits for you' : 'wait for you';
  return html`<${Answer}
    kind=${first ? 'asking' : 'none'}
    count=${gates.length}
    label=${held.length ? `${wait} · ${held.length} held` : wait}
    text=${first ? html`<${Named} id=${first.task} text=${inOneLine(first.question)} />` : 'nothing to answer'}
    act=${first && (() => {
      asking.value = first.gate;
    })}
  />`;
}

// What is not replaced when it changes must be read here: a component that is given the same object is not drawn anew.
function Cost() {
  const state = read('head');
  const budget = facts()?.budget_usd ?? null;
  const share = budget ? Math.min(1, state.cost / budget) : 0;
  const wall = state.walls.at(-1);
  return html`<${Answer}
    kind=${wall ? 'wall' : 'cost'}
    count=${money(state.cost)}
    label=${budget === null ? 'spent, no budget' : `of ${money(budget)}`}
    text=${wall?.message ?? expected(state)}
  >
    ${budget !== null && html`<span class=${`budget${share > NEARLY ? ' nearly' : ''}`} aria-hidden="true">
      <i style=${{ width: `${share * 100}%` }} />
    </span>`}
  <//>`;
}

function expected({ forecast, tokens, calls }) {
  if (forecast?.usd_high) return `forecast ${money(forecast.usd_low)}–${money(forecast.usd_high).slice(1)}`;
  return `${short(tokens)} tokens · ${many(calls, 'call')}`;
}
