import { html } from './libraries.js';
import { Panel } from './layout.js';

export function Terminal() {
  return html`<${Panel} name="terminal" title="Terminal"><p class="empty">Nothing yet.</p><//>`;
}
