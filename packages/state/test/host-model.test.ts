import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sized } from '../../../test/sized.ts';
import { nameFromBytes } from '../src/filesystem/path-name.ts';
import {
  createCheckpointStore,
  createPathLocks,
  defineTool,
  fail,
  rollbackToTool,
  succeed,
  VisibilityExpansionRequired,
} from '../src/index.ts';
import { createTestRunner, createTestState, must, openTestFilesystem, temporaryDirectory, treeOf } from './builders.ts';
import { type Model, modelAfter, type Operation, operation, perform, treeOfModel } from './host-model.ts';

const SOAK = process.env.SIGNALBOX_SOAK === '1';
const SCRIPTS = sized(24, 120, 2000);
const STEPS = { minLength: 20, maxLength: 26 };

const ending = fc.constantFrom('succeed', 'succeed', 'fail', 'throw', 'bad output', 'expand', 'cancel');
type Ending = typeof ending extends fc.Arbitrary<infer T> ? T : never;

interface Call {
  readonly kind: 'call';
  readonly operations: readonly Operation[];
  readonly ending: Ending;
}
type Step =
  | Call
  | { readonly kind: 'declared'; readonly operation: Operation; readonly ending: Ending }
  | { readonly kind: 'outside'; readonly operation: Operation }
  | { readonly kind: 'rollback'; readonly to: number };

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constant('call' as const),
  operations: fc.array(operation, { minLength: 1, maxLength: 6 }),
  ending,
});
/** A call that declares the one path that it changes. */
const declared: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant('declared' as const),
  operation: operation.filter(one => one.op !== 'rename'),
  ending,
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: declared },
  { weight: 6, arbitrary: call },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('outside' as const), operation }) },
);
const ownStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: declared },
  { weight: 6, arbitrary: call },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rollback' as const), to: fc.nat() }) },
);

/** Runs a script in a new directory and compares it with the model after every step. */
async function runScript(script: readonly Step[]): Promise<void> {
  const directory = temporaryDirectory();
  try {
    const files = openTestFilesystem(directory.path);
    const checkpoints = createCheckpointStore();
    const { state } = createTestState({ files, checkpoints });
    const locks = createPathLocks();
    let aborter = new AbortController();
    const tool = defineTool({
      name: 'script',
      description: 'does what it is told, then ends as it is told',
      input: z.custom<Call>(),
      output: z.null(),
      risk: 'low',
      effects: { kind: 'files' },
      handler({ operations, ending }) {
        for (const one of operations) perform(directory.path, one);
        if (ending === 'throw') throw new Error('as told');
        if (ending === 'expand') throw new VisibilityExpansionRequired(['all'], 'as told');
        if (ending === 'bad output') return succeed(1 as unknown as null);
        if (ending === 'cancel') aborter.abort();
        return ending === 'fail' ? fail('as told') : succeed(null);
      },
    });
    const declaring = defineTool({
      ...tool,
      name: 'declaring',
      effects: {
        kind: 'files',
        paths: input => (input as Call).operations.map(one => nameFromBytes(Buffer.from(one.path, 'latin1'))),
      },
    });
    const runner = createTestRunner(state, { tools: [tool, declaring], locks });
    let model: Model = new Map();
    const before = new Map<string, Model>();
    for (const [index, one] of script.entries()) {
      if (one.kind === 'outside') {
        perform(directory.path, one.operation);
        model = modelAfter(model, one.operation);
      } else if (one.kind === 'rollback') {
        const calls = checkpoints.list();
        if (calls.length === 0) continue;
        const chosen = calls[one.to % calls.length];
        if (chosen === undefined) continue;
        const undone = must(await rollbackToTool({ state, locks, toolCallId: chosen.toolCallId }));
        before.set(undone.checkpointId, model);
        model = before.get(chosen.toolCallId) ?? model;
      } else {
        const name = one.kind === 'call' ? 'script' : 'declaring';
        const operations = one.kind === 'call' ? one.operations : [one.operation];
        before.set(String(index), model);
        aborter = new AbortController();
        const ran = runner.execute(
          { id: String(index), name, input: { operations, ending: one.ending } },
          { signal: aborter.signal },
        );
        await ran.catch(thrown => expect(thrown).toBeInstanceOf(VisibilityExpansionRequired));
        if (one.ending === 'succeed') model = operations.reduce(modelAfter, model);
      }
      expect(treeOf(directory.path)).toEqual(treeOfModel(model));
    }
  } finally {
    directory.remove();
  }
}

describe('a real directory against a plain model', () => {
  it('[S19] [S20] [S46] any script of calls, some of which fail, leaves exactly what the calls that succeeded did', async () => {
    await fc.assert(fc.asyncProperty(fc.array(step, STEPS), runScript), {
      numRuns: SCRIPTS,
      ...(SOAK ? {} : { seed: 20 }),
    });
  }, 3_600_000);

  it('[S53] any rollback to a call brings back what was there before it', async () => {
    await fc.assert(fc.asyncProperty(fc.array(ownStep, STEPS), runScript), {
      numRuns: SCRIPTS / 4,
      ...(SOAK ? {} : { seed: 21 }),
    });
  }, 3_600_000);
});
