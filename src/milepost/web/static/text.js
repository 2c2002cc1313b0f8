// Texts of more than a line that others wrote: prose, rows of a file, lines of a log.
import { html } from './libraries.js';
import { copy } from './copy.js';
import { Icon } from './icons.js';
import { Inline } from './inline.js';
import { pieces, shown } from './safe.js';

const piece = ([style, text]) => (style ? html`<span class=${style}>${text}</span>` : text);

/** A name where no element can be: in an attribute, in a list to choose from. */
export const visible = text => shown(text).map(([, part]) => part).join('');

/** Words in which lines stay lines and `code` is set as code. */
export const Prose = ({ text }) =>
  text.split('\n').map((line, number) => html`${number > 0 && '\n'}<${Inline} text=${line} />`);

/** A row of a file: [[class, text], …] as the server coloured it. */
export const Row = ({ parts }) =>
  parts.flatMap(([style, text]) => shown(text).map(([unseen, part]) => piece([unseen || style, part])));

/** Lines of a log, with their colours. */
export function Log({ lines, label, kinds = [] }) {
  const drawn = (line, place) => html`<span class=${kinds[place] ?? null}>${pieces(line).map(piece)}${'\n'}</span>`;
  return html`<pre class="log" tabindex="0" role="group" aria-label=${label}>${lines.map(drawn)}</pre>`;
}

/** A button that copies a text. */
export const CopyButton = ({ text, label }) => html`<button
  class="icon"
  aria-label=${label}
  title="Copy"
  onClick=${() => copy(text)}
><${Icon} name="copy" /></button>`;
