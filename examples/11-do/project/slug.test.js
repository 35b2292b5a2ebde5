import assert from 'node:assert/strict';
import test from 'node:test';
import { slug } from './slug.js';

test('every space becomes a dash', () => {
  assert.equal(slug('A Tale of Two Cities'), 'a-tale-of-two-cities');
});

test('what is not a letter or a digit goes away', () => {
  assert.equal(slug('Hello, World!'), 'hello-world');
});
