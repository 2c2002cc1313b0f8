// A button with acts under it. A popover: above all panels, and gone with Escape or a click beside it.
import { html, useLayoutEffect, useRef, useState } from './libraries.js';

const EDGE = 8;
const STEPS = { ArrowDown: 1, ArrowUp: -1 };

/** `acts` are {label, note, act, current, hazard}; falsy ones are left out. `told`: the words on it name it. */
export function Menu({ label, hint, look = 'icon', told = false, heading, acts, children }) {
  const [open, setOpen] = useState(false);
  const button = useRef();
  const list = useRef();

  useLayoutEffect(() => {
    if (!open) return;
    button.current.focus(); // it may have been opened by a key; this is where the focus comes back to
    list.current.showPopover();
    place(list.current, button.current);
    list.current.querySelector('button')?.focus();
  }, [open]);
  const choose = act => {
    list.current.hidePopover();
    act();
  };

  return html`<button
      ref=${button}
      class=${look}
      aria-haspopup="menu"
      aria-expanded=${open}
      aria-label=${told ? null : label}
      title=${hint}
      onClick=${() => setOpen(!open)}
    >
      ${children}
    </button>
    ${open && html`<div
      ref=${list}
      class="menu"
      popover="auto"
      onToggle=${event => event.newState === 'closed' && setOpen(false)}
      onKeyDown=${walk}
    >
      ${heading && html`<p class="menu-heading">${heading}</p>`}
      <div role="menu" aria-label=${label}>
        ${acts.filter(Boolean).map(one => html`<button
          class=${one.hazard ? 'hazard' : ''}
          role=${one.current === undefined ? 'menuitem' : 'menuitemradio'}
          aria-checked=${one.current}
          tabindex="-1"
          onClick=${() => choose(one.act)}
        >
          <span>${one.label}</span>${one.note && html`<span class="soft">${one.note}</span>`}
        </button>`)}
      </div>
    </div>`}`;
}

/** Under its button where there is room, else above; never beyond the edges of the page. */
function place(list, button) {
  const box = button.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const below = box.bottom + 4;
  const fits = below + height <= innerHeight - EDGE;
  list.style.left = `${Math.max(EDGE, Math.min(box.left, innerWidth - width - EDGE))}px`;
  list.style.top = `${Math.max(EDGE, fits ? below : box.top - height - 4)}px`;
}

function walk(event) {
  const all = [...event.currentTarget.querySelectorAll('button')];
  const at = all.indexOf(document.activeElement);
  if (event.key in STEPS) all.at((at + STEPS[event.key]) % all.length).focus();
  else if (event.key === 'Home') all[0].focus();
  else if (event.key === 'End') all.at(-1).focus();
  else if (event.key === 'Tab') event.currentTarget.hidePopover();
  else return;
  event.preventDefault();
  event.stopPropagation();
}
