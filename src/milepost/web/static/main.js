// The page: header, the four answers, five panels.
import { effect, html, render } from './libraries.js';
import { Code } from './code.js';
import { Dialogs } from './dialogs.js';
import { holdFocus } from './focus.js';
import { Head } from './head.js';
import { Icon } from './icons.js';
import { PANELS, Splitter, bring, front, go, lower, sizes } from './layout.js';
import { Preview } from './preview.js';
import { Roadmap } from './roadmap.js';
import { begin } from './stream.js';
import { glance } from './state.js';
import { alive, awaited, link, read, second, state } from './store.js';
import { Talk } from './talk.js';
import { Terminal } from './terminal.js';
import './keys.js';
import './route.js';

const TABS = {
  roadmap: ['Roadmap', 'list'], talk: ['Talk', 'talk'], code: ['Code', 'code'], terminal: ['Terminal', 'terminal'],
  preview: ['Preview', 'eye'],
};

const LowerTabs = () => html`<div class="lower-tabs" role="group" aria-label="Lower panel">
  ${['terminal', 'preview'].map(name => html`<button
    aria-pressed=${lower.value === name}
    onClick=${() => bring(name)}
  >${TABS[name][0]}</button>`)}
</div>`;

function Tabs() {
  const waiting = glance(read('head')).gates.length;
  return html`<nav class="tabs" aria-label="Panels">
    ${PANELS.map(name => html`<button
      aria-current=${front.value === name ? 'page' : null}
      onClick=${() => bring(name)}
    >
      <${Icon} name=${TABS[name][1]} />${TABS[name][0]}
      ${name === 'talk' && waiting > 0
        && html`<span class="badge">${waiting}<span class="hidden"> wait for you</span></span>`}
    </button>`)}
  </nav>`;
}

function skip(event) {
  event.preventDefault(); // the address says what is shown
  go('roadmap');
}

function Page() {
  const { roadmap, talk, bottom, terminal } = sizes.value;
  const shares = { '--roadmap': roadmap, '--talk': talk, '--bottom': bottom, '--terminal': terminal };
  return html`<a class="skip" href="#panel-roadmap" onClick=${skip}>Skip to the roadmap</a>
    <${Head} />
    <main style=${shares}>
      <${Roadmap} />
      <${Splitter} name="roadmap" label="Width of the roadmap" />
      <div class="right">
        <div class="upper"><${Talk} /><${Splitter} name="talk" label="Width of the conversation" /><${Code} /></div>
        <${Splitter} name="bottom" label="Height of the terminal" across />
        <div class="lower">
          <${LowerTabs} /><${Terminal} /><${Splitter} name="terminal" label="Width of the terminal" /><${Preview} />
        </div>
      </div>
    </main>
    <${Tabs} />
    <${Dialogs} />`;
}

const app = document.getElementById('app');
app.replaceChildren();
render(html`<${Page} />`, app);
holdFocus(app);
setInterval(() => {
  if (!document.hidden) second.value += 1;
}, 1000);
effect(() => {
  document.documentElement.dataset.link = link.value;
  document.documentElement.dataset.alive = alive.value ? 'yes' : 'no';
});
effect(() => {
  const { run } = read('head');
  const waiting = awaited.value ?? glance(state).gates.length;
  document.title = `${waiting ? `(${waiting}) ` : ''}${run ? `run ${run.run} · ` : ''}Milepost`;
});
begin();
globalThis.milepost = {
  get state() {
    return state;
  },
}; // for tests, and for whoever is curious
