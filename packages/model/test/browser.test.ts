import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import * as model from '@signalbox/model';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { eventSamples } from './contract-samples.ts';
import { vectors } from './vectors.ts';

/** Calls most of the package and gives plain data back, so that two worlds can be compared. */
function tour(api: typeof model, events: readonly unknown[]): unknown {
  let now = 0;
  const ids = api.createIdSource({ now: () => (now += 1) }, { bytes: length => new Uint8Array(length).fill(now) });
  const canonical = events.map(event => api.canonicalJson(api.runEvent.parse(event)));
  return {
    minted: [ids.mint(), ids.mint()],
    derived: api.deriveId('node', 'é😀', 1),
    timestamp: api.timestampOf({ now: () => 1 }),
    head: canonical.reduce<model.Digest>(
      (head, event) => api.chainHead(api.portableHasher, head, event),
      api.EMPTY_HEAD,
    ),
    truncated: api.truncateUtf8('é'.repeat(20), 20),
    failure: api.failure('VALIDATION_ERROR', { message: 'm', suggestion: 's', details: ['/srv/x'] }),
    refused: api.runEvent.safeParse({ ...Object(events[0]), v: 2 }).success,
  };
}

it('[M52] the package bundles for a browser and does there what it does here', async () => {
  const entry = fileURLToPath(import.meta.resolve('@signalbox/model'));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'model',
  });
  const bundle = outputFiles[0]?.text ?? '';
  const events = Object.values(eventSamples);
  const context = vm.createContext({ TextEncoder, events: JSON.stringify(events) });
  vm.runInContext(bundle, context);
  const there = vm.runInContext(`JSON.stringify((${tour})(model, JSON.parse(events)))`, context);
  expect(JSON.parse(there)).toEqual(JSON.parse(JSON.stringify(tour(model, events))));
});

it('[M13] the frozen heads are those of the platform too', () => {
  const hasher: model.Hasher = data => model.digest.parse(`sha256:${createHash('sha256').update(data).digest('hex')}`);
  let head = model.EMPTY_HEAD;
  const heads = vectors.chain.steps.map(step => (head = model.chainHead(hasher, head, step.canonical)));
  expect(heads).toEqual(vectors.chain.steps.map(step => step.head));
});
