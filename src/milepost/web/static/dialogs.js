import { html } from './libraries.js';
import { announced, toast } from './store.js';

export const Dialogs = () => html`<div class="toast" role="status">${toast.value}</div>
  <div class="hidden" aria-live="polite">${announced.value}</div>`;
