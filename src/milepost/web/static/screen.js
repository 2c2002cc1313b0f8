// The rows of the terminal: only those that can be seen are in the page.
import { html, signal, useLayoutEffect, useRef } from './libraries.js';
import { clockToMs } from './format.js';
import { pieces } from './safe.js';
import { changed, hello, state } from './store.js';
import { older } from './stream.js';
import { visible } from './text.js';
import { View, wordsOf } from './view.js';

const ROW = 20; // pixels; the style sheet says the same
const BEYOND = 8; // rows drawn above and below
const NEAR_TOP = 40; // rows from the top at which older lines are fetched

const SIGNS = { command: '$ ', success: '✓ ', untroubled: '· ', failure: '✗ ', error: '! ', output: '  ' };

function put(row, name, text) {
  const span = document.createElement('span');
  if (name) span.className = name;
  span.textContent = text;
  row.append(span);
}

/** Put a piece with what is searched for in it marked. */
function putMarked(row, name, text, words) {
  const low = text.toLowerCase();
  let from = 0;
  for (let at = low.indexOf(words); at >= 0; at = low.indexOf(words, from)) {
    if (at > from) put(row, name, text.slice(from, at));
    put(row, `${name} match`.trim(), text.slice(at, at + words.length));
    from = at + words.length;
  }
  if (from < text.length) put(row, name, text.slice(from));
}

function draw(place, { words, stamped, isHit }) {
  const { lines } = state;
  const kind = lines.kind[place];
  const row = document.createElement('div');
  row.className = `line l-${kind}${isHit ? ' hit' : ''}`;
  if (stamped) put(row, 'stamp', clockToMs(lines.at[place]));
  put(row, 'from', visible(lines.task[place]));
  put(row, 'sign', SIGNS[kind]);
  for (const [name, text] of pieces(lines.text[place])) {
    if (words) putMarked(row, name, text, words);
    else put(row, name, text);
  }
  return row;
}

/** The screen's own part of what the person chose; `choice` is a signal of what `View.update` takes. */
export class Rows {
  count = signal(0); // of rows that are shown
  matches = signal(0);
  unread = signal(0); // rows that came while nothing was followed
  hit = signal(-1); // the row of the match that was jumped to
  follow = signal(true);
  #view = new View();
  #seen = 0;
  #ours = -1; // where we scrolled to ourselves
  #frame = 0;
  #fetching = false;
  #generation = 0;

  constructor(choice, stamped) {
    this.choice = choice;
    this.stamped = stamped;
  }

  /** Draw into a box, now and whenever something changes; gives what ends that. */
  attach(box) {
    this.box = box;
    const later = () => {
      this.#frame ||= requestAnimationFrame(() => this.#draw());
    };
    this.later = later;
    const ends = [
      changed.terminal.subscribe(later), this.choice.subscribe(later), this.stamped.subscribe(later),
      this.follow.subscribe(later), this.hit.subscribe(later),
    ];
    const scrolled = () => this.#scrolled();
    box.addEventListener('scroll', scrolled, { passive: true });
    const size = new ResizeObserver(later);
    size.observe(box);
    return () => {
      for (const end of ends) end();
      box.removeEventListener('scroll', scrolled);
      size.disconnect();
      cancelAnimationFrame(this.#frame);
    };
  }

  jump(by) {
    const row = this.#view.next(this.hit.value >= 0 ? this.hit.value : Math.floor(this.box.scrollTop / ROW) - 1, by);
    if (row < 0) return;
    this.follow.value = false;
    this.#seen = this.#view.places.length;
    this.hit.value = row;
    this.box.scrollTop = Math.max(0, row * ROW - this.box.clientHeight / 2);
  }

  /** Which of the matches was jumped to, from 1; 0 for none. */
  get nth() {
    return this.#view.matches.indexOf(this.hit.value) + 1;
  }

  text() {
    const { lines } = state;
    const stamp = place => (this.stamped.value ? `${clockToMs(lines.at[place])}  ` : '');
    const sign = place => (lines.kind[place] === 'command' ? '$ ' : '');
    return this.#view.places.map(place => stamp(place) + sign(place) + wordsOf(lines, place)).join('\n');
  }

  #draw() {
    this.#frame = 0;
    const { box } = this;
    const [sheet] = box.children;
    const [rows] = sheet.children;
    const top = this.#top();
    this.#view.update(state.lines, this.choice.value);
    const count = this.#view.places.length;
    sheet.style.height = `${count * ROW + 8}px`;
    this.count.value = count;
    this.matches.value = this.#view.matches.length;
    if (this.follow.value) this.#toEnd(count);
    else this.unread.value = Math.max(0, count - this.#seen);
    if (top && !this.follow.value) this.#keepAt(top, count);
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - BEYOND);
    const last = Math.min(count, first + Math.ceil(box.clientHeight / ROW) + 2 * BEYOND);
    rows.style.transform = `translateY(${first * ROW}px)`;
    const drawn = document.createDocumentFragment();
    const { words } = this.choice.value;
    for (let row = first; row < last; row += 1) {
      const how = { words, stamped: this.stamped.value, isHit: row === this.hit.value };
      drawn.append(draw(this.#view.places[row], how));
    }
    rows.replaceChildren(drawn);
  }

  #toEnd(count) {
    this.#ours = Math.max(0, count * ROW + 8 - this.box.clientHeight);
    this.box.scrollTop = this.#ours;
    this.#seen = count;
    this.unread.value = 0;
  }

  /** The line at the top, when lines were woven in since it was drawn. */
  #top() {
    const { lines } = state;
    const woven = lines.generation !== this.#generation;
    this.#generation = lines.generation;
    return woven ? this.topmost : null;
  }

  #keepAt({ seq, nth, rest }, count) {
    const row = this.#view.rowOf(state.lines, { seq, nth });
    this.box.scrollTop = row * ROW + rest;
    this.#seen = count;
    this.unread.value = 0;
    this.hit.value = -1;
  }

  #scrolled() {
    const { box } = this;
    const atEnd = box.scrollTop + box.clientHeight >= box.firstElementChild.offsetHeight - ROW / 2;
    if (this.follow.value && !atEnd && Math.abs(box.scrollTop - this.#ours) > 2) {
      this.follow.value = false;
      this.#seen = this.#view.places.length;
    } else if (!this.follow.value && atEnd) {
      this.follow.value = true;
    }
    this.#noteTop();
    if (!this.follow.value && box.scrollTop < NEAR_TOP * ROW) this.fetchOlder();
    this.later();
  }

  #noteTop() {
    const row = Math.floor(this.box.scrollTop / ROW);
    const place = this.#view.places[row];
    if (place === undefined) return;
    const seq = state.lines.seq[place];
    let nth = 0;
    while (row - nth > 0 && state.lines.seq[this.#view.places[row - nth - 1]] === seq) nth += 1;
    this.topmost = { seq, nth, rest: this.box.scrollTop - row * ROW };
  }

  async fetchOlder() {
    if (this.#fetching || !hello.value?.older) return;
    this.#fetching = true;
    await older();
    this.#fetching = false;
  }
}

export function Screen({ rows }) {
  const ref = useRef();
  useLayoutEffect(() => rows.attach(ref.current), [rows]);
  return html`<div class="screen" ref=${ref} tabindex="0" role="group" aria-label="Terminal output">
    <div class="sheet"><div class="rows"></div></div>
  </div>`;
}
