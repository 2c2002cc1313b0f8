// What can be done with a task.
import { html } from './libraries.js';
import { steer } from './ask.js';
import { copy } from './copy.js';
import { Icon } from './icons.js';
import { Menu } from './menu.js';
import { linkTo } from './route.js';
import { alive, asking, confirming, editing, read } from './store.js';

const REFUSED = new Set(['failed', 'unverified']);
const OVER = new Set(['passed', 'failed', 'unverified', 'done']);


export function TaskMenu({ id, status }) {
  const { state, gates, tasks } = read('head');
  const gate = [...gates.values()].find(one => one.task === id && !one.answer);
  const steerable = alive.value && state !== 'finished' && tasks.has(id) && !OVER.has(status);
  const command = `milepost ${REFUSED.has(status) ? 'retry' : status === 'passed' ? 'proof' : 'run --task'} ${id}`;
  return html`<${Menu}
    label=${`What can be done with ${id}`}
    hint="What can be done with it (.)"
    acts=${[
      gate && { label: 'Look and answer', act: () => {
        asking.value = gate.gate;
      } },
      REFUSED.has(status) && { label: 'Try again', note: 'by the same agent', act: () => steer('retry', id) },
      REFUSED.has(status) && { label: 'Try again with …', note: 'another agent', act: () => again(id) },
      steerable && { label: 'Give it to another agent …', act: () => give(id) },
      status !== 'passed' && status !== 'done' && { label: 'Edit the task …', act: () => {
        editing.value = id;
      } },
      { label: 'Copy the command', note: command, act: () => copy(command) },
      { label: 'Copy a link to it', act: () => copy(linkTo(id)) },
      steerable && { label: 'Drop it from the run …', hazard: true, act: () => drop(id) },
    ]}
  >
    <${Icon} name="more" />
  <//>`;
}

function again(id) {
  confirming.value = {
    title: `Try ${id} again`, text: 'Once more, in a run of its own.', label: 'Try again', agent: true,
    act: agent => steer('retry', id, agent),
  };
}

function give(id) {
  confirming.value = {
    title: `Give ${id} to another agent`, text: 'For the attempts that begin from now.', label: 'Give it', agent: true,
    act: agent => steer('agent', id, agent),
  };
}

function drop(id) {
  confirming.value = {
    title: `Drop ${id} from this run?`, label: 'Drop it',
    text: 'It stays open in the roadmap; what waits for it waits on.',
    act: () => steer('drop', id),
  };
}
