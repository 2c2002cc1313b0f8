// The preview: the run in numbers, its report and the app that was built in a frame of another name, its releases, and
// what is watched of them.
import { html, signal } from './libraries.js';
import { money, short, span } from './format.js';
import { Icon } from './icons.js';
import { Panel, remember, remembered } from './layout.js';
import { Bars, Plot } from './plots.js';
import { Releases } from './releases.js';
import { facts, hello, now, read, second, state } from './store.js';
import { Watch } from './watch.js';

const TABS = { numbers: 'Numbers', report: 'Report', app: 'App', releases: 'Releases', watch: 'Watch' };
const MISSING = {
  report: 'No report yet.',
  app: 'No app to show. Name its folder or address: milepost web --app dist',
};
const SHOWN_TASKS = 30;

const tab = signal(TABS[remembered('preview', '')] ? remembered('preview', '') : 'numbers');
const loads = signal(0); // counts how often the frame was asked to load anew

function tasksByCost(tasks) {
  const rows = tasks.filter(task => task.cost > 0).sort((one, other) => other.cost - one.cost);
  return rows.slice(0, SHOWN_TASKS).map(({ id, cost, status }) => ({
    name: id, value: cost, words: money(cost), kind: status,
  }));
}

function modelsByCost(models) {
  const rows = [...models].map(([name, { usd, tokens }]) => ({ name, value: usd || tokens, usd, tokens }));
  return rows
    .sort((one, other) => other.value - one.value)
    .map(({ name, value, usd, tokens }) => ({ name, value, words: usd ? money(usd) : `${short(tokens)} tokens` }));
}

function Tiles() {
  read('figures', 'head');
  second.value;
  const tasks = state.order.map(id => state.tasks.get(id));
  const passed = tasks.filter(task => task.status === 'passed');
  const atOnce = passed.filter(task => task.attempts.length === 1).length;
  const budget = facts()?.budget_usd;
  const tiles = [
    ['model calls', state.calls.toLocaleString('en')],
    ['tokens', short(state.tokens)],
    ['first try', passed.length ? `${atOnce} of ${passed.length}` : '–'],
    ['per milepost', passed.length ? money(state.cost / passed.length) : '–'],
    ['took', state.startedAt ? span((state.endedAt || now()) - state.startedAt) : '–'],
    ['budget', budget ? money(budget) : 'none'],
  ];
  return html`<dl class="tiles">
    ${tiles.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

function Numbers() {
  read('figures');
  second.value;
  const from = state.startedAt;
  const to = Math.max(state.endedAt || now(), from + 1);
  const passes = state.passes.map((at, place) => [at, place + 1]);
  const spent = state.cost > 0 || !state.tokens;
  return html`<div class="scroll numbers" tabindex="0" role="group" aria-label="The run in numbers">
    <div class="plots">
      ${spent && html`<${Plot} label="spent" now=${money(state.cost)} points=${state.costs} from=${from} to=${to} />`}
      <${Plot} label="tokens" now=${short(state.tokens)} points=${state.spentTokens} from=${from} to=${to} />
      <${Plot}
        label="passed" now=${passes.length} points=${passes} from=${from} to=${to}
        top=${Math.max(1, state.order.length)}
      />
    </div>
    <${Tiles} />
    <${Bars} title="Cost by task" rows=${tasksByCost(state.order.map(id => state.tasks.get(id)))} />
    <${Bars} title="By model" rows=${modelsByCost(state.models)} />
  </div>`;
}

const OWN = { numbers: Numbers, releases: Releases, watch: Watch }; // what is not in a frame

/** The address of the other server's part; empty where there is none. */
function place(name) {
  const given = hello.value;
  if (!given) return '';
  if (name === 'app') return given.app ?? '';
  return given.preview && state.run ? `${given.preview}/report?run=${state.run.run}` : '';
}

function Frame({ name }) {
  const address = place(name);
  if (!address) {
    return html`<p class="empty">${MISSING[name]}</p>`;
  }
  return html`<iframe
    key=${`${address} ${loads.value}`}
    class="frame"
    title=${name === 'report' ? 'Report of the run' : 'The app that was built'}
    src=${address}
    sandbox="allow-scripts allow-forms"
    referrerpolicy="no-referrer"
    loading="lazy"
  />`;
}

function Tools() {
  const address = OWN[tab.value] ? '' : place(tab.value);
  const choose = name => () => {
    tab.value = name;
    remember('preview', name);
  };
  return html`<div class="segments" role="group" aria-label="Preview of">
      ${Object.entries(TABS).map(([name, label]) => html`<button
        aria-pressed=${tab.value === name}
        onClick=${choose(name)}
      >${label}</button>`)}
    </div>
    ${address && html`<button
        class="icon" aria-label="Reload it" title="Reload it"
        onClick=${() => {
          loads.value += 1;
        }}
      ><${Icon} name="again" /></button>
      <a
        class="icon" href=${address} target="_blank" rel="noopener noreferrer" aria-label="Open in a new tab"
        title="Open in a new tab"
      ><${Icon} name="out" /></a>`}`;
}

export function Preview() {
  read('figures');
  return html`<${Panel} name="preview" title="Preview" tools=${html`<${Tools} />`}>
    ${OWN[tab.value] ? html`<${OWN[tab.value]} />` : html`<${Frame} name=${tab.value} />`}
  <//>`;
}
