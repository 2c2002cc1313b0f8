import { html } from './libraries.js';
import { Panel } from './layout.js';

export function Roadmap() {
  return html`<${Panel} name="roadmap" title="Roadmap"><p class="empty">Nothing yet.</p><//>`;
}
