// The header, and under it the four answers: done with proof, failed, waits for you, cost.
import { html } from './libraries.js';
import { read } from './store.js';

export function Head() {
  const state = read('head');
  return html`<header class="bar"><h1>${state.run ? `run ${state.run.run}` : 'no run yet'}</h1></header>`;
}
