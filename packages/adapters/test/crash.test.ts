import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { Json } from '@signalbox/model';
import type { AgentOutcome, Assignment } from '@signalbox/runs';
import { type ModelRequest, type ModelServer, startModelServer } from '@signalbox/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  assignmentOf,
  comparable,
  createTestRunner,
  createWorld,
  environmentOf,
  kindsOf,
  vendors,
  type World,
} from './builders.ts';
import { createMemoryTask, Died, type MemoryTask, type SessionOptions } from './memory-session.ts';

const usage = { input: 10, output: 5 };

/** A task with every kind of step: calls that wait for a person, a call that cannot be repeated, a corrected answer. */
const turns = [
  {
    text: 'First a file and a mail.',
    calls: [
      { tool: 'write_file', input: { path: 'a.txt', content: 'A' } },
      { tool: 'send_mail', input: { to: 'a@b' } },
    ],
  },
  {
    text: 'Now longer.',
    calls: [
      { tool: 'edit_file', input: { path: 'a.txt', find: 'A', replaceWith: 'AA' } },
      { tool: 'read_file', input: { path: 'a.txt' } },
    ],
  },
  { text: 'Is this it?' },
  { calls: [{ tool: 'final_answer', input: { size: 2 } }] },
].map(turn => ({ ...turn, usage }));
const schema = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
const script = { version: 1, rules: turns.map((turn, index) => ({ when: { turn: index + 1 }, ...turn })) };

let directory: string;
let server: ModelServer | undefined;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'signalbox-adapters-'));
  writeFileSync(path.join(directory, 'script.json'), JSON.stringify(script));
});
afterEach(async () => {
  await server?.close();
  server = undefined;
});
afterAll(() => rm(directory, { recursive: true }));

interface Lived {
  readonly task: MemoryTask;
  readonly world: World;
  readonly outcome: AgentOutcome;
  readonly operations: readonly number[];
}

/** Attempts until the work ends. Each that dies is followed by another, each that is blocked by a person's answers. */
async function live(model: string, stops: readonly NonNullable<SessionOptions['stop']>[]): Promise<Lived> {
  const task = createMemoryTask();
  const world = createWorld();
  const environment = server === undefined ? {} : { environment: environmentOf(server) };
  const assignment: Assignment = assignmentOf({ model, schema, permissions: 'gated', planDirectory: directory });
  const operations: number[] = [];
  for (let attempt = 0; attempt < 12; attempt++) {
    const stop = stops[attempt];
    const session = task.session(stop === undefined ? {} : { stop });
    try {
      const outcome = await createTestRunner({ world, ...environment }).run(
        { ...assignment, attempt: attempt + 1 },
        session,
      );
      operations.push(session.operations());
      if (outcome.kind !== 'blocked') return { task, world, outcome, operations };
      for (const tool of ['write_file', 'send_mail', 'edit_file']) task.answer(tool, { resolutionType: 'approve' });
    } catch (thrown) {
      if (!(thrown instanceof Died)) throw thrown;
      operations.push(session.operations());
    }
    expect(world.opened()).toBe(0);
  }
  throw new Error('it does not end');
}

const answer = (request: ModelRequest) => turns[request.turn - 1] ?? { text: 'too far' };

/** Vendors with ids of their own for calls, without, and no vendor at all. */
const places = [
  ...vendors.filter(({ vendor }) => vendor === 'anthropic' || vendor === 'google'),
  { vendor: 'scripted', model: 'scripted:script.json' },
];

describe.each(places)('on $vendor', ({ vendor, model }) => {
  const start = async () => {
    if (vendor !== 'scripted') server = await startModelServer(answer, { maxCalls: 5_000 });
  };

  it.each(['after', 'before'] as const)('[B15, B16] a death %s any durable operation repeats no effect', async when => {
    await start();
    const calm = await live(model, []);
    expect(calm.outcome).toEqual({ kind: 'done', output: { size: 2 } });
    expect(calm.world.runs).toEqual({ write_file: 1, send_mail: 1, edit_file: 1, read_file: 1 });
    expect(calm.operations).toHaveLength(3);
    for (const [attempt, count] of calm.operations.entries()) {
      for (let at = 0; at < count; at++) {
        const never = { at: Number.POSITIVE_INFINITY, when };
        const { task, world, outcome } = await live(model, [
          ...Array.from({ length: attempt }, () => never),
          { at, when },
        ]);
        const place = `attempt ${attempt}, operation ${at}`;
        const { read_file: _, send_mail = 0, ...undoable } = world.runs;
        expect([outcome, undoable, await world.read('a.txt')], place).toEqual([
          calm.outcome,
          { write_file: 1, edit_file: 1 },
          'AA',
        ]);
        expect(kindsOf(task.kept), place).toEqual(kindsOf(calm.task.kept));
        expect([spending(task), [...task.questions]], place).toEqual([spending(calm.task), [...calm.task.questions]]);
        // What the model was told may differ in one call: the one that was under way, of which the answer is not known.
        const lost = task.kept.filter((entry, index) => !isSame(entry, calm.task.kept[index]));
        expect(lost.length, place).toBeLessThanOrEqual(1);
        const told = lost.length === 0 ? '' : JSON.stringify(lost);
        expect(told, place).toMatch(
          when === 'after' ? /^$|outcome is unknown/ : /^$|outcome is unknown|answer was lost/,
        );
        if (send_mail !== 1)
          expect([send_mail, told], place).toEqual([0, expect.stringContaining('outcome is unknown')]);
      }
    }
  });
});

function isSame(one: Json, other: Json | undefined): boolean {
  return other !== undefined && JSON.stringify(comparable([one])) === JSON.stringify(comparable([other]));
}

/** What was spent, without times. */
function spending(task: MemoryTask): Json {
  return [...task.spent.values()].map(({ wallMs: _, ...usage }) => usage) as unknown as Json;
}
