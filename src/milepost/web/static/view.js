// Which lines of the terminal are shown: their places among all lines, extended as lines come, made anew when a choice
// changes. No DOM.
import { plain } from './safe.js';
import { ENDS } from './state.js';

/** The group that a kind of line is filtered by. */
const groupOf = kind => (ENDS.has(kind) ? 'ends' : kind);

/** A line as text, as search and copy have it. */
export const wordsOf = (lines, place) => plain(lines.text[place]);

export class View {
  places = [];
  matches = []; // of those that are shown, which match the search
  #upTo = 0;
  #made = '';

  /** Bring it up to date; `choice` is {task, groups, words, onlyMatches, from}. */
  update(lines, choice) {
    const made = JSON.stringify([choice, lines.generation]);
    if (made !== this.#made || this.#upTo > lines.text.length) {
      this.#made = made;
      this.#upTo = 0;
      this.places = [];
      this.matches = [];
    }
    for (; this.#upTo < lines.text.length; this.#upTo += 1) this.#consider(lines, this.#upTo, choice);
  }

  #consider(lines, place, { task, groups, words, onlyMatches, from }) {
    if (lines.seq[place] <= from || !groups[groupOf(lines.kind[place])]) return;
    if (task && lines.task[place] !== task) return;
    const matches = words !== '' && wordsOf(lines, place).toLowerCase().includes(words);
    if (onlyMatches && words !== '' && !matches) return;
    if (matches) this.matches.push(this.places.length);
    this.places.push(place);
  }

  /** The match after a row, or before it; the first or last one when there is none there. */
  next(row, by) {
    if (!this.matches.length) return -1;
    const after = by > 0 ? this.matches.find(match => match > row) : this.matches.findLast(match => match < row);
    return after ?? (by > 0 ? this.matches[0] : this.matches.at(-1));
  }

  /** The row of a line that was at a place before others were woven in. */
  rowOf(lines, { seq, nth }) {
    let low = 0;
    let high = this.places.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lines.seq[this.places[middle]] < seq) low = middle + 1;
      else high = middle;
    }
    return low + nth;
  }
}
