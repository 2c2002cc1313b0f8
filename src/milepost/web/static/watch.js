// What is watched: alerts, series, what was done about a release that is not well and whether it helped.
import { html, signal } from './libraries.js';
import { clock, many, span } from './format.js';
import { Inline } from './inline.js';
import { remember, remembered } from './layout.js';
import { usePolled } from './polled.js';
import { inUnit, Series } from './series.js';
import { visible } from './text.js';

const LENGTHS = { '10m': ['10 min', 600, 1000], '1h': ['1 hour', 3600, 5000], '1d': ['1 day', 86400, 30000] };
const UNITS = { error_rate: ['errors', 'share'], p99_ms: ['p99', 'ms'], 'most memory': ['most memory', 'share'] };
const OUTCOMES = { helped: 'passed', 'did not help': 'failed', 'under way': 'asking' };
const SEVERITIES = { critical: 'failed', error: 'failed', warning: 'asking', info: 'held' };
const STATES = { active: 'bad-state', 'no data': 'no-data' };

const length = signal(LENGTHS[remembered('watch', '')] ? remembered('watch', '') : '10m');

/** Until when an alert is silenced, who looks after it. */
function more({ status, acknowledged_by: by, silenced_until: until }) {
  if (status === 'silenced') return ` until ${clock(until)}`;
  return status === 'acknowledged' && by ? html` by <${Inline} text=${by} />` : '';
}

const Alert = ({ one }) => html`<li class="alert">
  <span class=${`outcome o-${one.status === 'resolved' ? 'passed' : SEVERITIES[one.severity]}`}>${one.severity}</span>
  <b><${Inline} text=${one.alert} /></b>
  <span class="soft">
    <span class=${`status ${STATES[one.status] ?? ''}`}>${one.status}</span>${more(one)} · since ${clock(one.since)}
  </span>
</li>`;

const isBeyond = ({ limit, low, lines }) =>
  limit !== null && lines.some(({ now }) => now !== null && (low ? now < limit : now > limit));

/** A few words on a target: to be without data is not to be well, nor is what is not an alert yet. */
function standing({ watched, alerts, charts, incidents }) {
  const active = alerts.filter(({ status }) => ['active', 'acknowledged', 'silenced'].includes(status));
  if (!watched) return ['waiting', 'nobody watches'];
  if (active.length) return ['failed', many(active.length, 'alert')];
  if (charts.some(isBeyond) || incidents.some(one => one.ended_at === null)) return ['failed', 'not well'];
  const known = charts.slice(0, 2).every(({ lines }) => lines.some(({ now }) => now !== null));
  return known ? ['passed', 'no alert'] : ['waiting', 'no data'];
}

/** What a remedy was decided by, and the same measurements after it. */
function Effect({ remedy }) {
  const names = [...new Set([...Object.keys(remedy.before), ...Object.keys(remedy.after)])];
  if (!names.length) return null;
  const ended = remedy.outcome !== 'under way';
  const cell = (values, name) => inUnit(values[name], UNITS[name]?.[1] ?? '');
  return html`<table class="effect">
    <thead><tr><td /><th scope="col">before</th><th scope="col">after</th></tr></thead>
    <tbody>${names.map(name => html`<tr>
      <th scope="row"><${Inline} text=${UNITS[name]?.[0] ?? name} /></th>
      <td>${cell(remedy.before, name)}</td>
      <td>${ended ? cell(remedy.after, name) : 'not known yet'}</td>
    </tr>`)}</tbody>
  </table>`;
}

const Remedy = ({ remedy }) => html`<div class="remedy">
  <p>
    <b>${remedy.kind} <${Inline} text=${remedy.subject} /></b>
    <span class=${`outcome o-${OUTCOMES[remedy.outcome]}`}>${remedy.outcome}</span>
    <span class="soft">
      <${Inline} text=${remedy.why} />${remedy.said && html` · <${Inline} text=${remedy.said} />`}
    </span>
  </p>
  <${Effect} remedy=${remedy} />
</div>`;

function Incident({ one }) {
  const over = one.ended_at !== null;
  return html`<li class="incident">
    <p>
      <b>Incident ${one.number}</b>
      <span class=${`outcome o-${over ? 'passed' : 'failed'}`}>${
        over ? `over after ${span(one.ended_at - one.began_at)}` : 'not over'
      }</span>
      ${one.called && html`<span class="outcome o-asking">a person was called</span>`}
      <span class="soft">
        release ${one.release} · ${clock(one.began_at)}${one.task && html` · task <${Inline} text=${one.task} />`}
      </span>
    </p>
    ${one.remedies.map(remedy => html`<${Remedy} key=${remedy.number} remedy=${remedy} />`)}
    ${!one.remedies.length && html`<p class="soft">nothing was done</p>`}
    <details class="timeline">
      <summary>${many(one.timeline.length, 'line')} of what happened in it</summary>
      <ol class="moves">${one.timeline.map(([at, said]) => html`<li>
        <time class="soft">${clock(at)}</time><span><${Inline} text=${said} /></span>
      </li>`)}</ol>
    </details>
  </li>`;
}

const Move = ({ move }) => html`<li>
  <time class="soft">${clock(move.at)}</time>
  <span><${Inline} text=${move.name} /> <b>${move.what}</b>
    ${move.said_by && html` <span class="soft"><${Inline} text=${move.said_by} /></span>`}</span>
</li>`;

function Place({ one }) {
  const [mark, words] = standing(one);
  const name = visible(`${one.target} (${one.environment})`);
  return html`<section class="place">
    <h3><${Inline} text=${one.target} /> <span class="soft"><${Inline} text=${one.environment} />${
      one.looked_at !== null && ` · last look ${clock(one.looked_at)}`
    }</span> <span class=${`health h-${mark}`}>${words}</span></h3>
    ${!one.watched && html`<p class="soft">Nothing is known since then: <code>milepost watch</code> looks again.</p>`}
    ${one.alerts.length > 0 && html`<ul class="alerts" aria-label=${`Alerts of ${name}`}>
      ${one.alerts.map(alert => html`<${Alert} key=${alert.alert} one=${alert} />`)}
    </ul>`}
    <div class="plots">
      ${one.charts.map(chart => html`<${Series} key=${chart.name} chart=${chart} length=${one.until - one.since} />`)}
    </div>
    ${one.incidents.length > 0 && html`<h4>What was done</h4>
      <ul class="incidents" aria-label=${`Incidents of ${name}`}>
        ${one.incidents.map(incident => html`<${Incident} key=${incident.number} one=${incident} />`)}
      </ul>`}
    ${one.moves.length > 0 && html`<h4>What happened</h4>
      <ol class="moves">${one.moves.map(move => html`<${Move} key=${move.seq} move=${move} />`)}</ol>`}
  </section>`;
}

function Lengths() {
  const choose = name => () => {
    length.value = name;
    remember('watch', name);
  };
  return html`<div class="segments lengths" role="group" aria-label="How far back">
    ${Object.entries(LENGTHS).map(([name, [label]]) => html`<button
      aria-pressed=${length.value === name}
      onClick=${choose(name)}
    >${label}</button>`)}
  </div>`;
}

export function Watch() {
  const { answer, late } = usePolled('/api/watch', LENGTHS[length.value][2], { length: length.value });
  if (!answer?.places.length) {
    const nothing = 'Nothing was watched: milepost watch local';
    return html`<p class="empty">${answer === undefined ? 'loading …' : nothing}</p>`;
  }
  return html`<div class="scroll numbers places watched" tabindex="0" role="group" aria-label="What is watched">
    <${Lengths} />
    ${late && html`<p class="no-data" role="status">The server does not answer: this is what was known before.</p>`}
    ${answer.places.map(one => html`<${Place} key=${`${one.target}/${one.environment}`} one=${one} />`)}
  </div>`;
}
