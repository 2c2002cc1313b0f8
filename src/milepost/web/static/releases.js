// Releases: what is where, which one has the traffic, how far a new one has come, and what happened last.
import { html } from './libraries.js';
import { clock, commit } from './format.js';
import { Inline } from './inline.js';
import { usePolled } from './polled.js';

const AGAIN_MS = 1000;
const STAGES = ['building', 'uploading', 'starting', 'checking', 'switching', 'soaking', 'live'];
const BAD = ['rejected', 'rolled back', 'rolling back'];

const stepOf = stage => (stage === 'waiting' ? 0 : STAGES.indexOf(stage));

const dot = (place, at) => (at < 0 ? 'not' : ['now', 'done', ''][place === at ? 0 : place < at ? 1 : 2]);

/** How far it has come, as a row of steps; in words for who does not see them. */
function Way({ stage }) {
  const at = stepOf(stage);
  const words = at < 0 ? stage : `${stage}, step ${at + 1} of ${STAGES.length}`;
  return html`<span class="way" role="img" aria-label=${words}>
    ${STAGES.map((_, place) => html`<i class=${dot(place, at)} />`)}
  </span>`;
}

/** One release; the line from the users leads to the one that has the traffic, and moves when it is switched. */
function Release({ one, traffic }) {
  const { release, stage, proof, said } = one;
  const has = traffic === release;
  return html`<li class=${`release${BAD.includes(stage) ? ' bad-one' : ''}${has ? ' has-traffic' : ''}`}>
    <span class="traffic" role="img" aria-label=${has ? 'has the traffic' : 'has no traffic'} />
    <b class="release-name">${release}</b>
    <${Way} stage=${stage} />
    <span class="stage">${stage}</span>
    <span class="soft release-proof"><code>${commit(one.commit)}</code> ${
      proof ? html`<${Inline} text=${proof} />` : 'unproven'
    }</span>
    ${said && html`<span class="soft release-said"><${Inline} text=${said} /></span>`}
  </li>`;
}

const HEALTH = { true: ['passed', 'healthy'], false: ['failed', 'not well'], null: ['waiting', 'not asked here'] };

function Place({ one }) {
  const [mark, words] = HEALTH[one.traffic === null ? null : one.healthy];
  const shown = one.releases.filter(({ release, stage }, place) =>
    place === 0 || release === one.traffic || stage === 'live' || stage === 'retired').slice(0, 3);
  return html`<section class="place">
    <h3>${one.target} <span class="soft">${one.environment} · ${one.kind}</span>
      <span class=${`health h-${mark}`}>${words}</span></h3>
    ${one.detail && html`<p class="soft"><${Inline} text=${one.detail} /></p>`}
    <ul class="releases" aria-label=${`Releases on ${one.target} (${one.environment})`}>
      ${shown.map(each => html`<${Release} key=${each.release} one=${each} traffic=${one.traffic} />`)}
    </ul>
  </section>`;
}

export function Releases() {
  const { answer } = usePolled('/api/releases', AGAIN_MS);
  if (!answer?.places.length) {
    const nothing = 'Nothing is deployed: milepost deploy local';
    return html`<p class="empty">${answer === undefined ? 'loading …' : nothing}</p>`;
  }
  return html`<div class="scroll numbers places" tabindex="0" role="group" aria-label="Releases">
    ${answer.places.map(one => html`<${Place} key=${`${one.target}/${one.environment}`} one=${one} />`)}
    <h3>What happened</h3>
    <ol class="moves">
      ${answer.moves.map(move => html`<li key=${move.seq}>
        <time class="soft">${clock(move.at)}</time>
        <span>${move.target} ${move.environment} · release ${move.release} <b>${move.stage}</b>
          ${move.said && html` <span class="soft"><${Inline} text=${move.said} /></span>`}</span>
      </li>`)}
    </ol>
  </div>`;
}
