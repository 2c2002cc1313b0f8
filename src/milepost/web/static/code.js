import { html } from './libraries.js';
import { Panel } from './layout.js';

export function Code() {
  return html`<${Panel} name="code" title="Code and proof"><p class="empty">Nothing yet.</p><//>`;
}
