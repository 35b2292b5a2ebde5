import { planNodeKinds } from '@signalbox/model';
import { expect, it } from 'vitest';
import type { KindEntry } from './kind-entry.ts';
import { isRunnableKind, type NodeKind } from './node-kind.ts';
import { nodeKinds } from './node-kinds.ts';

it('[P287] the engine knows every kind of node that can be shown, and how it works', () => {
  expect(Object.keys(nodeKinds).sort()).toEqual(Object.keys(planNodeKinds).sort());
  for (const [kind, entry] of Object.entries(nodeKinds)) {
    expect([kind, 'work' in entry]).toEqual([kind, isRunnableKind(kind as NodeKind)]);
  }
});

it('[P287] an incomplete kind does not compile', () => {
  type Table = { readonly [Kind in NodeKind]: KindEntry<Kind> };
  const { timer, ...others } = nodeKinds;
  // @ts-expect-error a kind is missing
  const missing: Table = others;
  // @ts-expect-error work that does not say how it is done
  const idle: Table = { ...others, timer: { ...timer, work: undefined } };
  const { cutOff: _, ...work } = timer.work;
  // @ts-expect-error work that does not say what becomes of it when its process dies
  const lost: Table = { ...others, timer: { ...timer, work } };
  // @ts-expect-error a kind that holds others does no work
  const busy: Table = { ...nodeKinds, phase: { ...nodeKinds.phase, work: timer.work } };
  expect([missing, idle, lost, busy]).toHaveLength(4);
});
