// The files of the run's branch as a tree, with what the run changed, and the text of one of them.
import { html, signal, useEffect, useLayoutEffect, useMemo, useRef, useState } from './libraries.js';
import { Chunks, longest } from './chunks.js';
import { askAgain, useAnswer } from './fetched.js';
import { commit, many } from './format.js';
import { Icon } from './icons.js';
import { Pieces } from './inline.js';
import { read } from './store.js';
import { CopyButton, Row, visible } from './text.js';
import { CHANGES, changedWords, grow, matching, rowsOf, step } from './tree.js';

const ROW_PX = 26;
const BEYOND = 12; // rows that are drawn above and below what is seen
const FEW = 60; // files of which all folders are open at first

const opened = signal(''); // the path of the file that is shown
const words = signal('');
const onlyChanged = signal(false);
const toggled = signal(new Map()); // path of a folder → whether a person opened it

const questionFor = run => (run ? { path: '/api/files', words: { run: run.run } } : null);

/** {commit, files, cut}, asked for again with every milepost; undefined on its way, null where there are none. */
export function useFiles() {
  const { run, passes, state } = read('code');
  return useAnswer(questionFor(run), `${passes.length}/${state === 'finished'}`);
}

export function Files() {
  const answer = useFiles();
  if (!answer) return html`<${Absent} answer=${answer} />`;
  return html`<div class=${`files${opened.value ? ' has-text' : ''}`}>
    <div class="files-side"><${Filter} answer=${answer} /><${Tree} answer=${answer} /></div>
    ${opened.value && html`<${Text} key=${opened.value} path=${opened.value} answer=${answer} />`}
  </div>`;
}

function Absent({ answer }) {
  const question = questionFor(read('code').run);
  if (!question) return html`<p class="empty">No run has started.</p>`;
  if (answer === undefined) return html`<p class="empty">Fetching the files …</p>`;
  return html`<p class="empty">The files could not be fetched.${' '}
    <button class="more" onClick=${() => askAgain(question)}>Try again</button></p>`;
}

function Filter({ answer }) {
  const changed = useMemo(() => answer.files.filter(file => file.change), [answer]);
  return html`<div class="files-bar">
    <label class="files-filter"><${Icon} name="search" /><span class="hidden">Filter the files</span><input
      type="search"
      placeholder="filter"
      autocomplete="off"
      spellcheck=${false}
      value=${words.value}
      onInput=${event => {
        words.value = event.currentTarget.value;
      }}
    /></label>
    <label class="files-tick"><input type="checkbox" checked=${onlyChanged.value} onChange=${event => {
      onlyChanged.value = event.currentTarget.checked;
    }} />only changed</label>
    <p class="soft">${many(answer.files.length, 'file')}${answer.cut ? ' and more' : ''}
      ${changed.length > 0 && `, ${changedWords(changed)}`}
      ${answer.commit && html` at <code>${commit(answer.commit)}</code>`}</p>
  </div>`;
}

function Tree({ answer }) {
  const choice = [answer.files, words.value, onlyChanged.value];
  const found = useMemo(() => matching(...choice), choice);
  const root = useMemo(() => grow(found), [found]);
  const filtered = words.value.trim() !== '';
  const isFew = answer.files.length <= FEW;
  const isOpen = folder => toggled.value.get(folder.path) ?? (filtered || isFew || folder.changed > 0);
  const rows = useMemo(() => rowsOf(root, isOpen), [root, toggled.value, filtered]);
  const [active, setActive] = useState(0);
  const at = Math.min(active, rows.length - 1);

  const toggle = row => {
    toggled.value = new Map(toggled.value).set(row.path, !row.open);
  };
  const use = row => {
    if (row.isFolder) toggle(row);
    else opened.value = row.path;
  };
  const press = event => {
    const isUse = event.key === 'Enter' || event.key === ' ';
    const next = isUse ? {} : step(rows, at, event.key);
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (isUse) use(rows[at]);
    else if (next.toggle) toggle(next.toggle);
    else if (next.to !== undefined) setActive(next.to);
  };

  if (!rows.length) return html`<p class="empty">${emptiness(answer, filtered)}</p>`;
  return html`<${Rows} rows=${rows} at=${at} press=${press} use=${(row, place) => {
    setActive(place);
    use(row);
  }} />`;
}

function emptiness(answer, filtered) {
  if (!answer.files.length) return 'The branch has no files.';
  if (filtered) return 'No file matches the filter.';
  return 'The run has changed no file yet.';
}

/** The rows that are near to be seen, of any number; the one that the keys are at is always among what is seen. */
function Rows({ rows, at, press, use }) {
  const ref = useRef();
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const observer = new ResizeObserver(() => setHeight(ref.current?.clientHeight ?? 600));
    observer.observe(ref.current);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const box = ref.current;
    if (at * ROW_PX < box.scrollTop) box.scrollTop = at * ROW_PX;
    else if ((at + 1) * ROW_PX > box.scrollTop + box.clientHeight) box.scrollTop = (at + 1) * ROW_PX - box.clientHeight;
  }, [at]);
  const first = Math.max(0, Math.floor(top / ROW_PX) - BEYOND);
  const last = Math.min(rows.length, Math.ceil((top + height) / ROW_PX) + BEYOND);
  const places = Array.from({ length: last - first }, (_, offset) => first + offset);
  if (at < first || at >= last) places.push(at);
  return html`<div
    class="scroll tree"
    ref=${ref}
    role="tree"
    tabindex="0"
    aria-label="Files of the run's branch"
    aria-activedescendant=${`file-${at}`}
    onScroll=${event => setTop(event.currentTarget.scrollTop)}
    onKeyDown=${press}
  >
    <div role="none" class="tree-sheet" style=${{ height: `${rows.length * ROW_PX}px` }}>
      ${places.map(place => html`<${Item}
        key=${rows[place].path}
        row=${rows[place]}
        place=${place}
        isActive=${place === at}
        use=${use}
      />`)}
    </div>
  </div>`;
}

function Item({ row, place, isActive, use }) {
  const [sign, word] = CHANGES[row.change] ?? [];
  return html`<div
    id=${`file-${place}`}
    class=${`tree-row${isActive ? ' active' : ''}${row.change ? ` f-${row.change}` : ''}`}
    role="treeitem"
    aria-level=${row.level}
    aria-setsize=${row.size}
    aria-posinset=${row.at}
    aria-expanded=${row.isFolder ? row.open : null}
    aria-selected=${!row.isFolder && row.path === opened.value}
    style=${{ top: `${place * ROW_PX}px`, '--level': row.level - 1 }}
    onClick=${() => use(row, place)}
  >
    ${row.isFolder && html`<span class=${`chevron${row.open ? ' down' : ''}`} aria-hidden="true" />`}
    ${!row.isFolder && html`<${Icon} name="file" />`}
    <span class="tree-name"><${Pieces} text=${row.name} /></span>
    ${row.changed > 0 && html`<span class="soft">${row.changed}<span class="hidden"> changed</span></span>`}
    ${sign && html`<span class="tree-change"><span aria-hidden="true">${sign}</span> ${word}</span>`}
  </div>`;
}

/** A file as it is on the run's branch. */
function Text({ path, answer }) {
  const { run } = read('code');
  const change = answer.files.find(file => file.path === path)?.change ?? '';
  const question = change === 'removed' ? null : { path: '/api/file', words: { run: run.run, path } };
  const file = useAnswer(question, answer.commit);
  const ref = useRef();
  useEffect(() => {
    if (document.activeElement === document.body) ref.current?.focus();
  }, []);
  return html`<div class="files-text" ref=${ref} tabindex="-1">
    <header class="file-head">
      <button class="icon back" aria-label="Back to the files" title="Back to the files" onClick=${() => {
        opened.value = '';
      }}><${Icon} name="close" /></button>
      <code><${Pieces} text=${path} /></code>
      ${change && html`<span class="soft kind">${CHANGES[change][1]}</span>`}
      <${CopyButton} text=${path} label=${`Copy the path of ${visible(path)}`} />
    </header>
    ${question && html`<${Lines} file=${file} path=${path} question=${question} />`}
    ${!question && html`<p class="folded">The run removed this file: its mileposts show its text.</p>`}
  </div>`;
}

function Lines({ file, path, question }) {
  if (file === undefined) return html`<p class="folded">Fetching its text …</p>`;
  if (file === null) {
    return html`<p class="folded">It could not be fetched.${' '}
      <button class="more" onClick=${() => askAgain(question)}>Try again</button></p>`;
  }
  const note = reticence(file);
  return html`${note && html`<p class="folded">${note}</p>`}
    ${file.rows.length > 0 && html`<div
      class="scroll source"
      tabindex="0"
      role="group"
      aria-label=${`Text of ${visible(path)}`}
    >
      <div class="sheet-of" style=${{ minWidth: `calc(${longest(file.rows, row => row[1])}ch + 70px)` }}>
        <${Chunks} rows=${file.rows} draw=${drawn} />
      </div>
    </div>`}`;
}

/** Why not all of a file is shown; nothing when it is. */
function reticence(file) {
  if (file.binary) return 'A binary file: it is not shown.';
  if (file.cut) return 'Its beginning: it is too long to be shown whole.';
  return file.rows.length ? '' : 'An empty file.';
}

const drawn = ([number, parts], place) => html`<div class="row" key=${place}>
  <span class="no">${number}</span><code><${Row} parts=${parts} /></code>
</div>`;
