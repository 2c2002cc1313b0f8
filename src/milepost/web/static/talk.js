import { html } from './libraries.js';
import { Panel } from './layout.js';

export function Talk() {
  return html`<${Panel} name="talk" title="Conversation"><p class="empty">Nothing yet.</p><//>`;
}
