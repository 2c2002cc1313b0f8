// What an attempt changed, file by file. What nobody reads first is folded, never withheld.
import { html, useState } from './libraries.js';
import { ask } from './ask.js';
import { Chunks, ROW_PX, longest } from './chunks.js';
import { many } from './format.js';
import { Pieces } from './inline.js';
import { hello } from './store.js';
import { CopyButton, Row, visible } from './text.js';

const LONG = 400; // changed lines
const MOST_FILES = 100;
const KINDS = { ' ': '', '+': 'added', '-': 'removed' };
const SIGNS = { ' ': ' ', '+': '+', '-': '−' };

/** The files of a diff, under a line that sums them up; `where` is the attempt, to ask for more of a file. */
export function Diff({ diff, where }) {
  const [most, setMost] = useState(MOST_FILES);
  const [all, setAll] = useState(null); // whether all are open; null leaves it to each
  const files = [...diff.files].sort((one, other) => isRoadmap(one) - isRoadmap(other));
  if (!files.length) return html`<p class="soft pad">It changed no file.</p>`;
  return html`<section class="diffs" aria-label="What it changed">
    <div class="sum">
      <h4>${many(files.length, 'file')}${diff.under_way ? ' so far' : ''}</h4>
      <${Counts} added=${total(files, 'added')} removed=${total(files, 'removed')} />
      <button class="more" onClick=${() => setAll(!all)}>${all ? 'Fold all' : 'Open all'}</button>
    </div>
    ${files.slice(0, most).map(file => html`<${File}
      key=${`${file.path}/${all}`}
      file=${file}
      where=${where}
      opened=${all}
    />`)}
    ${files.length > most && html`<button class="button small" onClick=${() => setMost(most + 200)}>
      Show ${many(Math.min(200, files.length - most), 'more file')}
    </button>`}
    ${diff.cut && html`<${Cut} diff=${diff} />`}
  </section>`;
}

/** The roadmap changes with every milepost: it is ticked. */
const isRoadmap = ({ path }) => path.split('/').at(-1) === hello.value?.roadmap;

const total = (files, what) => files.reduce((sum, file) => sum + file[what], 0);

const Counts = ({ added, removed }) => html`<span class="counts-of">
  <span class="plus">+${added.toLocaleString('en')}</span> <span class="minus">−${removed.toLocaleString('en')}</span>
</span>`;

function Cut({ diff }) {
  const command = `git diff ${diff.base} ${diff.commit}`;
  return html`<p class="soft pad">There is more than is shown here. All of it: <code>${command}</code>
    <${CopyButton} text=${command} label=${`Copy ${command}`} />
  </p>`;
}

/** Why a file is folded at first; nothing when it is not. */
function reticence(file) {
  const { generated, long, added, removed } = file;
  if (generated) return 'of a generated file';
  if (isRoadmap(file)) return 'of the roadmap';
  return long || added + removed > LONG ? 'in one file' : '';
}

/** One file: its name is a button that folds it. */
export function File({ file: told, where, opened = null }) {
  const [whole, setWhole] = useState(null);
  const file = whole ?? told;
  const folded = reticence(file);
  const [open, setOpen] = useState(opened ?? !folded);
  const toggle = () => setOpen(!open);
  return html`<article class="file" data-path=${file.path}>
    <header class="file-head">
      <button class="bare" aria-expanded=${open} onClick=${toggle}>
        <span class=${`chevron${open ? ' down' : ''}`} aria-hidden="true" />
        <code>${file.was && file.was !== file.path && html`<span class="soft">
          <${Pieces} text=${file.was} /> → </span>`}<${Pieces} text=${file.path} /></code>
      </button>
      <span class="soft kind">${file.kind}${file.generated ? ', generated' : ''}</span>
      <${Counts} added=${file.added} removed=${file.removed} />
      <${CopyButton} text=${file.path} label=${`Copy the path of ${visible(file.path)}`} />
    </header>
    ${!open && folded && html`<p class="folded">${many(file.added + file.removed, 'line')} ${folded} are folded.${' '}
      <button class="more" onClick=${toggle}>Show them</button></p>`}
    ${open && html`<${Hunks} file=${file} />`}
    ${open && file.cut && !file.binary && !whole && where && html`<p class="folded">
      More of it changed than is shown here.${' '}
      <button class="more" onClick=${async () => setWhole(await more(where, file.path))}>Show more of it</button></p>`}
  </article>`;
}

/** A file by itself: there is more room for it than beside all others. */
async function more(where, path) {
  const answer = await ask('/api/attempt', { ...where, path }, { aloud: true });
  return answer?.diff.files[0] ?? null;
}

function Hunks({ file }) {
  const note = [file.binary && 'a binary file: it is not shown', file.note].filter(Boolean).join(' · ');
  const rows = file.hunks.flatMap(hunk => [{ header: hunk.header }, ...hunk.rows]);
  const width = longest(rows, row => (row.header === undefined ? row[3] : [['', row.header]]));
  return html`${note && html`<p class="folded"><${Pieces} text=${note} /></p>`}
    ${!note && !rows.length && !file.cut && html`<p class="folded">No line changed.</p>`}
    ${rows.length > 0 && html`<div
      class="source"
      tabindex="0"
      role="group"
      aria-label=${`Changes in ${visible(file.path)}`}
    >
      <div class="sheet-of" style=${{ minWidth: `calc(${width}ch + 118px)`, '--row': `${ROW_PX}px` }}>
        <${Chunks} rows=${rows} draw=${drawn} />
      </div>
    </div>`}`;
}

function drawn(row, place) {
  if (row.header !== undefined) return html`<${Header} key=${place} text=${row.header} />`;
  return html`<${Changed} key=${place} row=${row} />`;
}

const Header = ({ text }) => html`<div class="hunk-head"><span><${Pieces} text=${text} /></span></div>`;

const Changed = ({ row: [kind, old, now, parts] }) => html`<div class=${`row ${KINDS[kind]}`}>
  <span class="no">${old ?? ''}</span><span class="no">${now ?? ''}</span><span class="change">${SIGNS[kind]}</span>
  <code><${Row} parts=${parts} /></code>
</div>`;
