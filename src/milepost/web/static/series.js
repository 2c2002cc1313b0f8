// Series in slots of time, each with a value or without one: a line with gaps. What is not known is never a zero.
import { html } from './libraries.js';
import { Inline } from './inline.js';
import { span } from './format.js';
import { visible } from './text.js';

const WIDTH = 300;
const HEIGHT = 56;
const ROOM = 3; // above and below the line
const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

/** A value in words; null is no zero. */
export function inUnit(value, unit) {
  if (value === null || value === undefined) return 'no data';
  if (unit === 'share') return `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`;
  if (unit !== 'ms') return COMPACT.format(value);
  return value < 1000 ? `${value < 10 ? value.toFixed(1) : Math.round(value)} ms` : `${(value / 1000).toFixed(1)} s`;
}

/** The path of the known values from slot to slot; it is broken where nothing is known. Pure. */
export function path(values, top) {
  const across = place => ((place / values.length) * WIDTH).toFixed(1);
  const up = value => (HEIGHT - ROOM - (Math.min(value, top) / (top || 1)) * (HEIGHT - 2 * ROOM)).toFixed(1);
  const piece = (value, place) => {
    if (value === null) return '';
    const begin = place === 0 || values[place - 1] === null ? `M${across(place)} ${up(value)}` : `V${up(value)}`;
    return `${begin}H${across(place + 1)}`;
  };
  return values.map(piece).join('');
}

/** The stretches in which nothing is known of any line, as [first, count] of slots. Pure. */
export function gaps(lines, count) {
  const found = [];
  for (let place = 0; place < count; place += 1) {
    if (lines.some(({ values }) => values[place] !== null)) continue;
    const last = found.at(-1);
    if (last && last[0] + last[1] === place) last[1] += 1;
    else found.push([place, 1]);
  }
  return found;
}

/** How high a chart reaches: shares to a whole, or twice what is an alert where that is little. */
function topOf({ unit, limit, lines }) {
  const most = Math.max(0, ...lines.flatMap(({ values }) => values));
  if (unit !== 'share') return most * 1.05 || 1;
  return Math.max(most, limit !== null && limit < 0.4 && most < 0.4 ? 2 * limit : 1);
}

/** The line that is spoken of: the worst of those that are looked at. */
function leading({ lines, low }) {
  const known = lines.filter(({ gone, now }) => !gone && now !== null);
  const worse = (one, other) => (low ? one.now < other.now : one.now > other.now);
  return known.reduce((found, one) => (found && !worse(one, found) ? found : one), null);
}

function Legend({ chart, lead, unknown }) {
  const here = lead ? chart.lines.filter(({ name, gone }) => name && !gone) : [];
  return html`<p class="legend">
    ${here.map(({ name, now }) => html`<span class=${now === null ? 'no-data' : null}>
      <${Inline} text=${name} /> <b>${inUnit(now, chart.unit)}</b></span>`)}
    ${unknown > 0 && html`<span class="no-data">no data for ${span(unknown)}</span>`}
  </p>`;
}

/** One chart of the server: what it is now in words, lines, gaps, and the threshold of its alert. */
export function Series({ chart, length }) {
  const { name, unit, limit, lines } = chart;
  const count = lines[0]?.values.length ?? 1;
  const holes = gaps(lines, count);
  const unknown = holes.reduce((sum, [, slots]) => sum + slots, 0) * (length / count);
  const lead = leading(chart);
  const top = topOf(chart);
  const now = inUnit(lead?.now, unit);
  const share = part => `${((100 * part) / count).toFixed(2)}%`;
  const most = Math.max(...lines.flatMap(({ values }) => values.filter(value => value !== null)));
  const words = [
    `${visible(name)}: now ${now}`,
    Number.isFinite(most) && `highest ${inUnit(most, unit)}`,
    limit !== null && `an alert ${chart.low ? 'below' : 'above'} ${inUnit(limit, unit)}`,
    unknown > 0 && `no data for ${span(unknown)} of ${span(length)}`,
  ].filter(Boolean).join(', ');
  const height = limit === null || limit > top ? null : ROOM + (1 - limit / top) * (HEIGHT - 2 * ROOM);
  return html`<figure class="plot series">
    <figcaption><${Inline} text=${name} /><b class=${lead ? null : 'no-data'}>${now}</b></figcaption>
    <div class="drawn" role="img" aria-label=${words}>
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        ${height !== null && html`<path
          class="limit" d=${`M0 ${height}H${WIDTH}`} vector-effect="non-scaling-stroke"
        />`}
        ${lines.map(line => html`<path
          class=${`trace${line === (lead ?? lines[0]) ? '' : ' other'}`}
          d=${path(line.values, top)}
          vector-effect="non-scaling-stroke"
        />`)}
      </svg>
      ${holes.map(([first, slots]) => html`<i
        class="gap" style=${{ left: share(first), width: share(slots) }}
      />`)}
      ${unknown >= length && html`<span class="nothing">no data</span>`}
    </div>
    <${Legend} chart=${chart} lead=${lead} unknown=${unknown < length ? unknown : 0} />
  </figure>`;
}
