// Where the focus goes when what had it is gone: near to where it was, never to nowhere.

const HOMES = '.task-row, .answers, .strip, .acts, .panel';

let last = null; // what had the focus last, beside dialogs and menus
let homes = []; // what that is in, from the inside out

addEventListener('focusin', ({ target }) => {
  if (target.closest('dialog, [popover]')) return;
  last = target;
  homes = [];
  for (let home = target.closest(HOMES); home; home = home.parentElement.closest(HOMES)) homes.push(home);
});
addEventListener('focusout', ({ relatedTarget }) => {
  if (relatedTarget) return;
  setTimeout(() => {
    if (!isNowhere() || !last || !canHave(last)) return;
    last = null; // the person left it
    homes = [];
  });
});

const canHave = element => element.isConnected && !element.disabled;
const isNowhere = () => document.activeElement === null || document.activeElement === document.body;

/** Give the focus to what waits for the person, to the nearest home of what had it, or else to the roadmap. */
export function regain() {
  if (!isNowhere()) return;
  const home = homes.find(one => one.isConnected);
  const inside = home?.querySelector('.a-asking, .task') ?? home?.querySelector('button:not(:disabled)');
  const next = home?.matches('.panel') ? home : inside ?? document.querySelector('.a-asking');
  (next ?? document.getElementById('panel-roadmap'))?.focus();
}

/** Watch what is drawn, and regain the focus whenever that took it away. */
export function holdFocus(root) {
  const look = () => {
    if (last && !canHave(last) && isNowhere() && !document.querySelector('dialog[open]')) regain();
  };
  new MutationObserver(look).observe(root, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}
