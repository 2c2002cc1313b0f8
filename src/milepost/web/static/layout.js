// Where the panels are: their sizes, the splitters between them, which of them is in front.
import { effect, html, signal, useRef } from './libraries.js';
import { Icon } from './icons.js';

export const PANELS = ['roadmap', 'talk', 'code', 'terminal', 'preview'];
const DEFAULTS = { roadmap: 0.21, talk: 0.38, bottom: 0.37, terminal: 0.62 };
const LIMITS = { roadmap: [0.14, 0.4], talk: [0.2, 0.7], bottom: [0.12, 0.8], terminal: [0.25, 0.8] };
const STEP = 0.02;
const LARGE_STEP = 0.1;

/** What this browser remembers under a name; storage may be refused. */
export function remembered(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`milepost.${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function remember(name, value) {
  try {
    localStorage.setItem(`milepost.${name}`, JSON.stringify(value));
  } catch {
    // It is not remembered, then.
  }
}

const before = remembered('layout', {});
export const sizes = signal({ ...DEFAULTS, ...before.sizes });
export const front = signal(PANELS.includes(before.front) ? before.front : 'roadmap'); // narrow: the one that is shown
export const lower = signal(before.lower === 'preview' ? 'preview' : 'terminal'); // middle: which of the two
export const whole = signal(''); // the panel that fills the page
export const theme = signal(remembered('theme', 'system'));

effect(() => remember('layout', { sizes: sizes.value, front: front.value, lower: lower.value }));
// On the root at once, not with the next drawing: a panel that is brought to the front can be focused in the same turn.
effect(() => Object.assign(document.documentElement.dataset, {
  front: front.value, lower: lower.value, whole: whole.value,
}));
effect(() => {
  remember('theme', theme.value);
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

const THEMES = { system: 'dark', dark: 'light', light: 'system' };

export function nextTheme() {
  theme.value = THEMES[theme.value];
}

/** Bring a panel to the front, where not all are seen. */
export function bring(name) {
  front.value = name;
  if (name === 'terminal' || name === 'preview') lower.value = name;
  if (whole.value) whole.value = name;
}

/** Bring a panel to the front and focus it, not what is in it: that may be about to change. */
export function face(name) {
  bring(name);
  document.getElementById(`panel-${name}`).focus();
}

/** Bring a panel to the front and move the focus into it. */
export function go(name) {
  bring(name);
  const panel = document.getElementById(`panel-${name}`);
  (panel?.querySelector('[data-first], .scroll[tabindex], .screen') ?? panel)?.focus();
}

function resize(name, share) {
  const [least, most] = LIMITS[name];
  sizes.value = { ...sizes.value, [name]: Math.min(most, Math.max(least, share)) };
}

export const reset = () => {
  sizes.value = { ...DEFAULTS };
};

/** A separator that the pointer drags and the arrow keys move; Home or a double click puts it back. */
export function Splitter({ name, label, across = false }) {
  const ref = useRef();
  const share = sizes.value[name];
  const upwards = name === 'bottom' ? -1 : 1;

  const drag = event => {
    if (!ref.current.hasPointerCapture(event.pointerId)) return;
    const box = ref.current.parentElement.getBoundingClientRect();
    const place = across ? (event.clientY - box.top) / box.height : (event.clientX - box.left) / box.width;
    resize(name, upwards < 0 ? 1 - place : place);
  };
  const grab = event => {
    event.preventDefault();
    ref.current.focus();
    ref.current.setPointerCapture(event.pointerId);
    document.documentElement.classList.add('dragging'); // frames would swallow the pointer
  };
  const release = () => document.documentElement.classList.remove('dragging');
  const press = event => {
    const step = event.shiftKey ? LARGE_STEP : STEP;
    const by = { ArrowLeft: -step, ArrowUp: -step, ArrowRight: step, ArrowDown: step }[event.key];
    if (by !== undefined) resize(name, share + upwards * by);
    else if (event.key === 'Home') resize(name, DEFAULTS[name]);
    else return;
    event.preventDefault();
  };

  return html`<div
    ref=${ref}
    class=${`split ${across ? 'across' : 'down'}`}
    role="separator"
    tabindex="0"
    aria-label=${label}
    aria-orientation=${across ? 'horizontal' : 'vertical'}
    aria-valuenow=${Math.round(share * 100)}
    aria-valuemin=${LIMITS[name][0] * 100}
    aria-valuemax=${LIMITS[name][1] * 100}
    onPointerDown=${grab}
    onPointerMove=${drag}
    onPointerUp=${release}
    onLostPointerCapture=${release}
    onDblClick=${() => resize(name, DEFAULTS[name])}
    onKeyDown=${press}
  />`;
}

/** A panel: its heading with a note and tools, and its body. */
export function Panel({ name, title, note, tools, children }) {
  const full = whole.value === name;
  const label = full ? `Restore ${title}` : `Fill the page with ${title}`;
  return html`<section
    class=${`panel p-${name}${full ? ' whole' : ''}`}
    id=${`panel-${name}`}
    aria-labelledby=${`title-${name}`}
    tabindex="-1"
  >
    <header class="panel-head">
      <h2 id=${`title-${name}`}>${title}</h2>
      ${note && html`<span class="panel-note">${note}</span>`}
      <div class="panel-tools">
        ${tools}
        <button
          class="icon grow"
          aria-pressed=${full}
          aria-label=${label}
          title="Fill the page (m)"
          onClick=${() => {
            whole.value = full ? '' : name;
          }}
        >
          <${Icon} name=${full ? 'shrink' : 'grow'} />
        </button>
      </div>
    </header>
    ${children}
  </section>`;
}
