// Icons and marks, drawn as strokes. A mark tells how a task stands by its shape, not by its colour alone.
import { html } from './libraries.js';

const STROKES = {
  grow: 'M9 3H3v6M15 21h6v-6M3 3l7 7M21 21l-7-7',
  shrink: 'M4 10h6V4M20 14h-6v6M10 10 3 3M14 14l7 7',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  clear: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  down: 'M12 4v15M6 13l6 6 6-6',
  clock: 'M12 7v5l3 2M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16.5 16.5 21 21',
  before: 'M6 15l6-6 6 6',
  after: 'M6 9l6 6 6-6',
  theme: 'M12 3a9 9 0 1 0 9 9 7 7 0 0 1-9-9',
  help: 'M9 9a3 3 0 1 1 4 2.8c-.8.4-1 1-1 2.2M12 17.6v.1M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 4l13 8-13 8z',
  stop: 'M6 6h12v12H6z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  list: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  talk: 'M4 5h16v11H9l-5 4z',
  code: 'M8 7l-5 5 5 5M16 7l5 5-5 5',
  terminal: 'M4 5l6 6-6 6M12 18h8',
  eye: 'M2 12s4-7 10-7 10 7 10 7-4 7-10 7-10-7-10-7M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6',
  send: 'M4 12l16-8-6 16-3-7z',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  file: 'M6 3h8l4 4v14H6zM14 3v5h4',
  folder: 'M3 6h7l2 3h9v11H3z',
  wrap: 'M4 6h16M4 12h12a3 3 0 0 1 0 6h-4M14 15l-3 3 3 3',
  again: 'M20 11a8 8 0 1 0-2.3 6M20 5v6h-6',
  milepost: 'M7 21V10a5 5 0 0 1 10 0v11M4 21h16M9.5 12l1.8 1.8 3.2-3.6',
  close: 'M6 6l12 12M18 6L6 18',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  out: 'M14 4h6v6M20 4l-9 9M10 5H5v14h14v-5',
};

export const Icon = ({ name }) => html`<svg class="stroke" viewBox="0 0 24 24" aria-hidden="true">
  <path d=${STROKES[name]} />
</svg>`;

const WORDS = {
  passed: 'passed', accepted: 'accepted, not verified', held: 'held', failed: 'failed', unverified: 'unverified',
  working: 'in progress', asking: 'waits for you',
  waiting: 'waits', done: 'done before',
};
const SIGNS = {
  passed: 'M5 12.5l4.5 4.5L19 7.5',
  done: 'M6.5 12.5l3.8 3.8 7.2-7.4',
  accepted: 'M6.5 12.5l3.8 3.8 7.2-7.4',
  held: 'M9.2 7.5v9M14.8 7.5v9',
  failed: 'M6.5 6.5l11 11M17.5 6.5l-11 11',
  unverified: 'M9 9a3 3 0 1 1 4.2 2.7c-.9.5-1.2 1-1.2 2.3M12 17.4v.2',
  asking: 'M12 6v7.5M12 17.4v.2',
};

export const Mark = ({ status }) => html`<span class=${`mark m-${status}`} role="img" aria-label=${WORDS[status]}>
  ${SIGNS[status] && html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${SIGNS[status]} /></svg>`}
</span>`;
