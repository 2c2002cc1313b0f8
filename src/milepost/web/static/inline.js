// A line that somebody else wrote: what cannot be seen in it is made visible, and `code` is set as code.
import { html } from './libraries.js';
import { shown } from './safe.js';

const CODE = /`([^`]+)`/;

export const Pieces = ({ text }) =>
  shown(text).map(([style, piece]) => (style ? html`<span class=${style}>${piece}</span>` : piece));

/** A title or a reason. */
export const Inline = ({ text }) =>
  text.split(CODE).map((part, place) => {
    const pieces = html`<${Pieces} text=${part} />`;
    return place % 2 ? html`<code>${pieces}</code>` : pieces;
  });
