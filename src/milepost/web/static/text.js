// Texts of more than a line that others wrote: prose, rows of a file, lines of a log.
import { html } from './libraries.js';
import { copy } from './copy.js';
import { Icon } from './icons.js';
import { Inline, Pieces } from './inline.js';
import { pieces, shown } from './safe.js';
import { commandsIn } from './wording.js';

const piece = ([style, text]) => (style ? html`<span class=${style}>${text}</span>` : text);

/** A name where no element can be: in an attribute, in a list to choose from. */
export const visible = text => shown(text).map(([, part]) => part).join('');

/** Words in which lines stay lines and `code` is set as code. */
export const Prose = ({ text }) =>
  text.split('\n').map((line, number) => html`${number > 0 && '\n'}<${Inline} text=${line} />`);

/** Words that say what to do: commands in them are code, and can be copied. */
export const Advice = ({ text }) =>
  text.split('\n').map((line, number) => html`${number > 0 && '\n'}${commandsIn(line).map((part, place) =>
    place % 2 ? html`<span class="told-command"><code><${Pieces} text=${part} /></code><${CopyButton}
      text=${part}
      label=${`Copy ${visible(part)}`}
    /></span>` : html`<${Inline} text=${part} />`)}`);

/** A row of a file: [[class, text], …] as the server coloured it. */
export const Row = ({ parts }) =>
  parts.flatMap(([style, text]) => shown(text).map(([unseen, part]) => piece([unseen || style, part])));

const SAID = /^`[^`]+` /; // a command, and how it ended

/** Lines of a log, with their colours; where Milepost itself `says` them, a command at their start is set as code. */
export function Log({ lines, label, kinds = [], says = false }) {
  const words = line => (says && SAID.test(line) ? html`<${Inline} text=${line} />` : pieces(line).map(piece));
  const drawn = (line, place) => html`<span class=${kinds[place] ?? null}>${words(line)}${'\n'}</span>`;
  return html`<pre class="log" tabindex="0" role="group" aria-label=${label}>${lines.map(drawn)}</pre>`;
}

/** A button that copies a text. */
export const CopyButton = ({ text, label }) => html`<button
  class="icon"
  aria-label=${label}
  title="Copy"
  onClick=${() => copy(text)}
><${Icon} name="copy" /></button>`;
