import { test } from 'node:test';
import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { Queue } from '../src/queue.mjs';

test('a job has a result', async () => {
  assert.equal(await new Queue().add(async () => 7), 7);
});

test('jobs wait for each other', async () => {
  const queue = new Queue();
  const seen = [];
  const job = (name) => async () => {
    seen.push(`${name} starts`);
    await setImmediate();
    seen.push(`${name} ends`);
  };
  await Promise.all([queue.add(job('a')), queue.add(job('b'))]);
  assert.deepEqual(seen, ['a starts', 'a ends', 'b starts', 'b ends']);
});

test('a job that fails does not stop the next', async () => {
  const queue = new Queue();
  const failed = queue.add(async () => {
    throw new Error('no');
  });
  const next = queue.add(async () => 'yes');
  await assert.rejects(failed, /no/);
  assert.equal(await next, 'yes');
});
