// A dialog: what is asked stands in its title, which has the focus first, so that a stray Enter does nothing.
import { html, useLayoutEffect, useRef } from './libraries.js';
import { regain } from './focus.js';
import { Mark } from './icons.js';

/** Open for as long as it is drawn; `close` is what Escape and the way out do. */
export function Dialog({ name, title, mark, wide = false, close, children }) {
  const ref = useRef();
  const heading = useRef();
  useLayoutEffect(() => {
    const dialog = ref.current;
    dialog.showModal();
    heading.current.focus();
    return () => {
      dialog.close(); // gives the focus back
      regain();
    };
  }, []);
  const cancel = event => {
    event.preventDefault();
    close();
  };
  return html`<dialog ref=${ref} class=${wide ? 'wide' : ''} aria-labelledby=${`${name}-title`} onCancel=${cancel}>
    <div class="dialog-body">
      <h2 id=${`${name}-title`} ref=${heading} tabindex="-1">
        ${mark && html`<${Mark} status=${mark} />`}<span>${title}</span>
      </h2>
      ${children}
    </div>
  </dialog>`;
}

/** Ctrl and Enter in a field do what the main button does. */
export const onCtrlEnter = act => event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  act();
};
