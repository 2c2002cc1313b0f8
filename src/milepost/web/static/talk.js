// The conversation of the selected task, or of all of them: it follows what happens until the reader looks back.
import { html, useEffect, useLayoutEffect, useRef, useState } from './libraries.js';
import { Composer, Waits } from './composer.js';
import { Entry } from './entries.js';
import { fold, newer } from './folding.js';
import { many, span } from './format.js';
import { Icon, Mark } from './icons.js';
import { Pieces } from './inline.js';
import { Panel } from './layout.js';
import { pick } from './route.js';
import { glance } from './state.js';
import { alive, link, now, read, second, selected } from './store.js';

const MOST = 120;
const MORE = 200;
const NEAR_END_PX = 24;
const MOST_AT_WORK = 4;

export function Talk() {
  const id = selected.value;
  const { run } = read('head');
  return html`<${Panel}
    name="talk"
    title="Conversation"
    note=${id ? html`task <${Pieces} text=${id} />` : 'whole run'}
    tools=${id && html`<button class="button small" onClick=${() => pick()}>whole run</button>`}
  >
    <${Entries} key=${`${run?.run}/${id}`} id=${id} />
    <${Waits} />
    <${Composer} />
  <//>`;
}

/** The entries. While the reader looks back, the first row is held so that nothing moves, and news are counted. */
function Entries({ id }) {
  const { talk, tasks } = read('talk');
  const ref = useRef();
  const place = useRef({ first: 0, fromEnd: 0 });
  const [most, setMost] = useState(MOST);
  const [back, setBack] = useState(null); // since when the reader looks back: {held, seen}
  const { rows, earlier } = fold(talk, id, { most, held: back?.held });
  const first = rows[0]?.first.seq ?? 0;

  useLayoutEffect(() => {
    const box = ref.current;
    if (!back) box.scrollTop = box.scrollHeight;
    else if (first < place.current.first) box.scrollTop = box.scrollHeight - place.current.fromEnd;
    place.current = { first, fromEnd: box.scrollHeight - box.scrollTop };
  });
  const follow = useRef();
  follow.current = () => {
    if (ref.current && !back) ref.current.scrollTop = ref.current.scrollHeight;
  };
  useEffect(() => {
    const observer = new ResizeObserver(() => follow.current()); // a panel that was not seen had no end to be at
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  const scrolled = () => {
    const box = ref.current;
    if (!box?.clientHeight) return;
    place.current.fromEnd = box.scrollHeight - box.scrollTop;
    const atEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - NEAR_END_PX;
    if (atEnd && back) setBack(null);
    else if (!atEnd && !back) setBack({ held: first, seen: talk.at(-1)?.seq ?? 0 });
  };
  // What is opened grows after it was drawn; whoever opened it reads it, and is not taken away from it.
  const grown = () => requestAnimationFrame(() => requestAnimationFrame(scrolled));
  const showEarlier = () => {
    setBack({ held: first, seen: talk.at(-1)?.seq ?? 0, ...back });
    setMost(rows.length + MORE);
  };
  const unseen = back ? newer(talk, id, back.seen) : 0;

  return html`<div class="talk-wrap">
    <div
      class="scroll talk"
      ref=${ref}
      onScroll=${scrolled}
      onToggleCapture=${grown}
      tabindex="0"
      role="group"
      aria-label="What happened"
    >
      ${earlier > 0 && html`<button class="button small earlier" onClick=${showEarlier}>
        Show earlier <span class="soft">${many(earlier, 'entry', 'entries')}</span>
      </button>`}
      ${rows.map(row => html`<${Entry} key=${row.key} row=${row} />`)}
      ${!rows.length && html`<p class="empty">${emptiness(id, tasks.get(id))}</p>`}
      <${AtWork} id=${id} />
    </div>
    ${back && html`<button class="pill" onClick=${() => setBack(null)}>
      <${Icon} name="down" />${unseen ? `${unseen.toLocaleString('en')} new` : 'to the end'}
    </button>`}
  </div>`;
}

function emptiness(id, task) {
  if (!id) return 'Nothing has happened yet.';
  return task ? `Nothing has happened in ${id} yet: it waits for its turn.` : `This run has no task ${id}.`;
}

/** What is at work now, with a clock that stands still when nobody works or nobody tells us. */
function AtWork({ id }) {
  const working = glance(read('roadmap')).working.filter(task => !id || task.id === id);
  const moves = link.value === 'live' && alive.value;
  if (moves) second.value;
  return working.slice(0, MOST_AT_WORK).map(task => html`<div class="entry at-work" key=${task.id}>
    <${Mark} status="working" />
    ${!id && html`<b><${Pieces} text=${task.id} /></b>`}
    <span class="doing"><${Pieces} text=${[task.stage, task.doing].filter(Boolean).join(' · ')} /></span>
    <span class="soft">${moves ? span(now() - startOf(task)) : 'in progress when last seen'}</span>
  </div>`);
}

const startOf = task => task.attempts.at(-1)?.startedAt || task.startedAt;
