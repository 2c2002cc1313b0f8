import test from 'node:test';
import assert from 'node:assert/strict';
import { isEmpty, total } from '../cart.js';

test('prices add up', () => {
  assert.equal(total([{ name: 'tea', price: 300, count: 2 }]), 600);
});

test('a discount is a percentage', () => {
  assert.equal(total([{ name: 'tea', price: 300, count: 2 }], { tea: 50 }), 300);
});

test('no total is below zero', () => {
  assert.equal(total([{ name: 'tea', price: 100, count: 1 }], { tea: 200 }), 0);
});

test('a cart of nothing is empty', () => {
  assert.ok(isEmpty([{ name: 'tea', price: 300, count: 0 }]));
});
