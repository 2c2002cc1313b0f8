import { html } from './libraries.js';
import { Panel } from './layout.js';

export function Preview() {
  return html`<${Panel} name="preview" title="Preview"><p class="empty">Nothing yet.</p><//>`;
}
