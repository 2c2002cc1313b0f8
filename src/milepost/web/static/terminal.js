import { html, signal } from './libraries.js';
import { Panel } from './layout.js';

export const stamps = signal(false);
export const follow = signal(true);
export const terminal = { focusSearch() {}, jump() {} };

export function Terminal() {
  return html`<${Panel} name="terminal" title="Terminal"><p class="empty">Nothing yet.</p><//>`;
}
