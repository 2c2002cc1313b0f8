// Plots of a number over time, and bars. Drawn as steps: between two events nothing was known.
import { html } from './libraries.js';

const WIDTH = 300;
const HEIGHT = 64;
const ROOM = 4; // above and below the line
const MOST_POINTS = 400;

/** Every so many points, and always the last one: a plot is no wider than that. */
function thinned(points, most = MOST_POINTS) {
  if (points.length <= most) return points;
  const every = Math.ceil(points.length / most);
  return points.filter((_, place) => place % every === 0 || place === points.length - 1);
}

/** The path of steps through [at, value] points from one time to another; pure. */
function steps(points, { from, to, top }) {
  const across = at => (((at - from) / (to - from || 1)) * WIDTH).toFixed(1);
  const up = value => (HEIGHT - ROOM - (value / (top || 1)) * (HEIGHT - 2 * ROOM)).toFixed(1);
  const drawn = thinned(points).map(([at, value]) => `H${across(at)}V${up(value)}`);
  return `M0 ${up(0)}${drawn.join('')}H${WIDTH}`;
}

/** A number over time: what it is now, and how it came to be. */
export function Plot({ label, now, points, from, to, top }) {
  const most = top ?? Math.max(0, ...points.map(([, value]) => value));
  const line = steps(points, { from, to, top: most });
  return html`<figure class="plot">
    <figcaption>${label}<b>${now}</b></figcaption>
    <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${label}: ${now}`}>
      <path class="area" d=${`${line}V${HEIGHT}H0Z`} />
      <path class="trace" d=${line} vector-effect="non-scaling-stroke" />
    </svg>
  </figure>`;
}

/** Bars beside each other's lengths: rows of {name, value, words, kind}. */
export function Bars({ title, rows }) {
  if (!rows.length) return null;
  const most = Math.max(...rows.map(row => row.value)) || 1;
  return html`<h3>${title}</h3>
    <ul class="bars">
      ${rows.map(row => html`<li key=${row.name}>
        <span class="name">${row.name}</span>
        <span class="length">
          <i class=${`fill f-${row.kind ?? 'rest'}`} style=${{ width: `${(row.value / most) * 100}%` }} />
        </span>
        <span class="number">${row.words}</span>
      </li>`)}
    </ul>`;
}
