// The header: which run this is, how it stands, how it is held, and what may be asked of it; then the four answers.
import { html } from './libraries.js';
import { Answers } from './answers.js';
import { steer } from './ask.js';
import { Since } from './away.js';
import { copy } from './copy.js';
import { clock, many, ticking } from './format.js';
import { Icon } from './icons.js';
import { nextTheme, theme } from './layout.js';
import { Menu } from './menu.js';
import { pick } from './route.js';
import { choices, nextSteps, standing } from './standing.js';
import {
  alive, confirming, facts, hello, helping, link, now, read, run, runs, second, stopping,
} from './store.js';
import { show } from './stream.js';

const LINKS = {
  connecting: ['connecting …'], live: ['live'], resting: ['resting'], lost: ['lost the server', ', trying again …'],
  refused: ['key no longer valid'],
};

export const Head = () => html`<${Bar} /><${Answers} /><${Since} /><${Next} />`;

/** How the run that is shown stands. */
function stance() {
  const left = facts()?.ended ?? false;
  const seen = { link: link.value, alive: alive.value, left, stopping: stopping.value };
  return standing(read('head', 'roadmap'), seen);
}

function Bar() {
  const { kind, text, note } = stance();
  const [told, more] = LINKS[link.value];
  return html`<header class="bar">
    <a class="brand" href="#" aria-label="milepost: the whole run" onClick=${wholeRun}>
      <${Stone} /><span>milepost</span>
    </a>
    <h1><${Runs} /></h1>
    <span class=${`standing s-${kind}`}>
      <i class="dot" aria-hidden="true" /><span>${text}<span class="room">${note}</span></span>
    </span>
    <${Clock} /><${Held} />
    <span class=${`fact link l-${link.value}`} role="status">
      <i class="dot" aria-hidden="true" /><span>${told}<span class="room">${more}</span></span>
    </span>
    <div class="acts"><${Acts} />
      <button class="icon" aria-label=${`Theme: ${theme.value}; change it`} title="Theme (d)" onClick=${nextTheme}>
        <${Icon} name="theme" />
      </button>
      <button
        class="icon"
        aria-label="Keys and help"
        title="Keys (?)"
        onClick=${() => {
          helping.value = true;
        }}
      >
        <${Icon} name="help" />
      </button>
    </div>
  </header>`;
}

function wholeRun(event) {
  event.preventDefault();
  pick();
}

const Stone = () => html`<svg viewBox="0 0 32 32" aria-hidden="true">
  <path class="stone" d="M7 29V13a9 9 0 0 1 18 0v16z" />
  <path class="tick" d="M11.5 17.5l3.2 3.2 6-6.4" />
  <path class="road" d="M3 29h26" />
</svg>`;

/** The project and the run; a menu where there are others. */
function Runs() {
  const state = read('head');
  const folder = (hello.value?.folder ?? '').split('/').filter(Boolean).at(-1) ?? '';
  const name = state.run?.run ?? run.value;
  const known = held();
  const words = html`<span class="run-words">
    <b>${folder}</b>${name && html` <span class="soft"><span class="run-word">run </span>${name}</span>`}
  </span>`;
  const acts = runs.value.map(one => ({
    label: `run ${one.run}`, note: aboutRun(one), current: one.run === name,
    act: () => one.run === name || show(one.run),
  }));
  if (!acts.length) return words;
  const heading = known && `${known.held} · ${known.others}`;
  return html`<${Menu} look="run-name" label="Runs" told hint=${hello.value?.roadmap} heading=${heading} acts=${acts}>
    ${words}<span class="hidden">: show another run</span><${Icon} name="after" />
  <//>`;
}

function aboutRun({ started_at: startedAt, finished_at: finishedAt, ended, tasks }) {
  const day = new Date(startedAt * 1000).toLocaleDateString('en', { day: 'numeric', month: 'short' });
  const state = finishedAt ? 'finished' : ended ? 'abandoned' : 'not finished';
  return `${day} ${clock(startedAt).slice(0, 5)} · ${many(tasks.length, 'task')} · ${state}`;
}

function Clock() {
  const { startedAt } = read('head');
  second.value;
  if (!startedAt) return null;
  return html`<span class="fact clock" title="since the run began">
    <${Icon} name="clock" /><span class="hidden">clock </span>${ticking(now() - startedAt)}
  </span>`;
}

/** What holds its commands and when a person is asked; who works, how many at once. */
function held() {
  const known = facts() ?? read('head').run;
  if (!known) return null;
  const together = known.parallel > 1 ? `${known.parallel} at a time` : 'one at a time';
  const how = [known.trust || 'containers', known.approve && `approve ${known.approve}`];
  return { held: how.filter(Boolean).join(' · '), others: [known.agent, together].filter(Boolean).join(' · ') };
}

function Held() {
  const known = held();
  if (!known) return null;
  return html`<span class="fact held" title=${`${known.held} · ${known.others}`}>
    <${Icon} name="lock" /><span class="hidden">sandbox: </span>
    <span class="held-words">${known.held}<span class="others">${` · ${known.others}`}</span></span>
  </span>`;
}

// One button, so that it keeps the focus when it turns into another one.
const TURNS = [
  { when: 'pause', icon: 'pause', label: 'Pause', what: 'Pause the run', act: () => steer('pause') },
  { when: 'goOn', icon: 'play', label: 'Continue', what: 'Continue the run', act: () => steer('go_on') },
  { when: 'resume', icon: 'play', label: 'Resume', what: 'Resume the run', act: () => steer('resume'), main: true },
];

function Acts() {
  const may = choices(stance());
  const turn = TURNS.find(one => may[one.when]);
  return html`${turn && html`<${Act} key="turn" ...${turn} />`}
    ${may.stop && html`<${Menu} look="button quiet" label="Stop the run" acts=${STOPS}>
      <${Icon} name="stop" /><span class="name">Stop</span>
    <//>`}`;
}

const Act = ({ icon, label, what, act, main = false }) => html`<button
  class=${`button ${main ? 'main' : 'quiet'}`}
  aria-label=${what}
  onClick=${act}
>
  <${Icon} name=${icon} /><span class="name">${label}</span>
</button>`;

const STOPS = [
  { label: 'Stop after the steps in flight', note: 'it can be resumed later', act: () => steer('stop') },
  { label: 'Finish the tasks in progress', note: 'nothing new starts', act: () => steer('finish') },
  { label: 'Stop now', note: 'steps in flight are repeated later', hazard: true, act: stopNow },
];

function stopNow() {
  confirming.value = {
    title: 'Stop the run now?',
    text: 'The steps in flight are interrupted, and repeated when the run is resumed. No milepost is lost.',
    label: 'Stop now',
    act: () => steer('stop', '', 'now'),
  };
}

/** At the end, and whenever nobody is at work: what to do next. */
function Next() {
  const state = read('head');
  const steps = nextSteps(state, stance(), link.value);
  if (!steps.length) return null;
  const taken = state.summary?.fast_forwarded;
  return html`<section class="strip next" aria-label="What is next">
    <b>Next</b>
    ${taken && html`<span class="soft">${taken} is at ${state.summary.head.slice(0, 7)}</span>`}
    ${steps.map(([command, why]) => html`<span class="next-step">
      <code>${command}</code>
      <button class="icon" aria-label=${`Copy ${command}`} title="Copy" onClick=${() => copy(command)}>
        <${Icon} name="copy" />
      </button>
      <span class="soft">${why}</span>
    </span>`)}
  </section>`;
}
