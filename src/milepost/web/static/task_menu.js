// What can be done with a task.
import { html } from './libraries.js';
import { mayRetry } from './again.js';
import { steer } from './ask.js';
import { view } from './code.js';
import { copy } from './copy.js';
import { Icon } from './icons.js';
import { bring } from './layout.js';
import { Menu } from './menu.js';
import { linkTo, pick } from './route.js';
import { alive, asking, confirming, editing, read } from './store.js';
import { visible } from './text.js';
import { quoted } from './wording.js';

const REFUSED = new Set(['failed', 'unverified']);
const COMMANDS = { failed: 'retry', unverified: 'retry', passed: 'proof', accepted: 'proof', held: 'gates' };
const LANDED = new Set(['passed', 'accepted', 'done']);
const OVER = new Set(['passed', 'accepted', 'held', 'failed', 'unverified', 'done']);

export function TaskMenu({ id, status }) {
  const { state, gates, tasks } = read('head');
  const gate = [...gates.values()].find(one => one.task === id && !one.answer);
  const steerable = alive.value && state !== 'finished' && tasks.has(id) && !OVER.has(status);
  const verb = gate ? (status === 'unverified' ? 'accept' : 'approve') : COMMANDS[status] ?? 'run --task';
  const command = verb === 'gates' ? 'milepost gates' : `milepost ${verb} ${quoted(id)}`;
  return html`<${Menu}
    label=${`Actions for ${visible(id)}`}
    hint="Actions (.)"
    acts=${[
      gate && { label: 'Look and answer', act: () => {
        asking.value = gate.gate;
      } },
      REFUSED.has(status) && mayRetry() && { label: 'Try again …', act: () => again(id) },
      steerable && { label: 'Give it to another agent …', act: () => give(id) },
      !LANDED.has(status) && { label: 'Edit the task …', act: () => {
        editing.value = id;
      } },
      { label: 'Copy the command', note: visible(command), act: () => copy(command) },
      { label: 'Copy a link to it', act: () => copy(linkTo(id)) },
      steerable && { label: 'Drop it from the run …', hazard: true, act: () => drop(id) },
    ]}
  >
    <${Icon} name="more" />
  <//>`;
}

/** To where it is done, and where a refusal can be read. */
function again(id) {
  view.value = 'proof';
  pick(id);
  bring('code');
}

function give(id) {
  confirming.value = {
    title: `Give ${visible(id)} to another agent`, label: 'Give it', agent: true,
    text: 'For attempts that start from now on.',
    act: agent => steer('agent', id, agent),
  };
}

function drop(id) {
  confirming.value = {
    title: `Drop ${visible(id)} from this run?`, label: 'Drop it',
    text: 'It stays open in the roadmap; tasks that depend on it keep waiting.',
    act: () => steer('drop', id),
  };
}
