import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createTestRunner, createTestState, must, plan, setupPlan } from '../../test/builders.ts';
import { defineTool, fail } from './tool.ts';

const breaking = defineTool({
  name: 'breaking',
  description: 'changes a file and the plan, then fails',
  input: z.strictObject({}),
  output: z.null(),
  risk: 'low',
  effects: { kind: 'files' },
  async handler(_, { files, session }) {
    must(await files.write('file.txt', 'broken'));
    must(session.dispatch(setupPlan, { objective: 'broken', status: 'broken' }));
    return fail('it does not work');
  },
});

describe('tool runner', () => {
  it('[S40] a tool that answers failure leaves files and state as they were', async () => {
    const { state, files } = createTestState();
    must(await files.write('file.txt', 'original'));
    must(state.session.slice(plan).seed([{ objective: 'test', status: 'active' }]));

    const outcome = must(
      await createTestRunner(state, { tools: [breaking] }).execute({ id: 'call_1', name: 'breaking', input: {} }),
    );

    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'tool/failed' }, rollback: { kind: 'restored' } });
    expect(Buffer.from(must(await files.read('file.txt'))).toString()).toBe('original');
    expect(state.session.slice(plan).all()).toEqual([{ objective: 'test', status: 'active' }]);
  });
});
