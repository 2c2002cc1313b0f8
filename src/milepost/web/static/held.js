// Held work: what a person is asked about it, with the old and the new expectation side by side.
import { html } from './libraries.js';
import { Inline, Pieces } from './inline.js';
import { Prose } from './text.js';

const MOST = 30;

/** Each question as {text, place, before, after}; where an expectation changed, what it was beside what it is. */
export const Questions = ({ questions }) => questions.length > 0 && html`<ul class="questions" aria-label="Questions">
  ${questions.slice(0, MOST).map(one => html`<li>
    <p><${Inline} text=${one.text} />${one.place && html` <code><${Pieces} text=${one.place} /></code>`}</p>
    ${(one.before || one.after) && html`<dl class="expected">
      <div class="was"><dt>was</dt><dd><${Pieces} text=${one.before || '–'} /></dd></div>
      <div class="is"><dt>now</dt><dd><${Pieces} text=${one.after || '–'} /></dd></div>
    </dl>`}
  </li>`)}
  ${questions.length > MOST && html`<li class="soft">and ${questions.length - MOST} more</li>`}
</ul>`;

/** The questions of a proof, with their place in one word. */
const asked = proof => (proof?.questions ?? []).map(({ path, line, ...one }) => ({
  ...one, place: line ? `${path}:${line}` : path,
}));

const lead = (isOpen, proof) =>
  (isOpen ? 'It is held for you.' : proof?.decided ? 'A person decided.' : 'It was held.');

/** Why work is held, what is asked, who decided; `children` is where it is answered, while the question `isOpen`. */
export const Held = ({ attempt, proof, isOpen, children }) => html`<section
  class="why held-work"
  aria-label="Why it is held"
>
  <p class="lead"><b>${lead(isOpen, proof)}</b>${' '}
    <${Prose} text=${proof?.decided || attempt.reason} /></p>
  <${Questions} questions=${asked(proof)} />
  ${children}
</section>`;

/** What the verdict rests on beside the checks: files of the base, its own tests, an exit code alone. */
export const Basis = ({ lines }) => lines?.length > 0 && html`<ul class="basis" aria-label="What the verdict rests on">
  ${lines.map(line => html`<li><${Inline} text=${line} /></li>`)}
</ul>`;
