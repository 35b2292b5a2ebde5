import { describe, expect, it } from 'vitest';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, filesUnder, value } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const bugs = { workflowId: 'wr.bug-investigation' } as const;

describe('[G114] the ackToken alone', () => {
  it('hands in the step, once, as with the stateToken of its place', async () => {
    const tools = openTools(dataDirectory());
    const start = value(await tools.start(bugs));
    const call = filledIn(start);
    expect(call).not.toHaveProperty('stateToken');
    const next = value(await tools.continue(call));
    expect(next).toMatchObject({ kind: 'ok', pending: { stepId: 'hypotheses' } });
    expect(value(await tools.continue({ ...call, stateToken: start.stateToken }))).toEqual(next);
    const other = value(await tools.start(bugs));
    const mixed = errorOf(await tools.continue({ ...call, stateToken: other.stateToken }));
    expect(mixed.code).toBe('TOKEN_SCOPE_MISMATCH');
    const named = errorOf(await tools.continue({ ...call, workflowId: 'wr.research' }));
    expect([named.code, named.message]).toEqual([
      'TOKEN_SCOPE_MISMATCH',
      expect.stringContaining('the ackToken is of'),
    ]);
  });

  it('names the place that a rehydrate shows, and records nothing', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const { ackToken = '', stateToken } = value(await tools.start(bugs));
    const before = filesUnder(directory);
    const shown = value(await tools.continue({ intent: 'rehydrate', ackToken }));
    expect(shown).toEqual(value(await tools.continue({ stateToken })));
    for (const lost of [{ output: {} }, { context: {} }]) {
      const refused = errorOf(await tools.continue({ intent: 'rehydrate', ackToken, ...lost }));
      expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: Object.keys(lost)[0] } });
    }
    expect(filesUnder(directory)).toEqual(before);
  });

  it('is asked for if there is no token at all', async () => {
    const tools = openTools(dataDirectory());
    const start = value(await tools.start(bugs));
    for (const call of [{}, { output: filledIn(start).output }, { intent: 'rehydrate' } as const]) {
      expect(errorOf(await tools.continue(call))).toMatchObject({
        code: 'VALIDATION_ERROR',
        details: { field: 'stateToken' },
      });
    }
  });
});

describe('[G115] an answer in the middle of a walk', () => {
  it('leaves out what the agent has, and a rehydrate has it all', async () => {
    const tools = openTools(dataDirectory());
    const start = value(await tools.start(bugs));
    expect(start.checkpointToken).toBeDefined();
    const blocked = value(await tools.continue({ ...filledIn(start), output: { notesMarkdown: 'Looked.' } }));
    expect(blocked).toMatchObject({ kind: 'blocked', pending: { title: start.pending?.title } });
    expect(blocked.pending?.prompt).toBe('The prompt is the same as before; nextCall shows it again.');
    const again = value(await tools.continue(blocked.nextCall?.arguments as { stateToken: string }));
    expect(again.pending?.prompt).toContain(start.pending?.prompt ?? 'no prompt');
    const next = value(await tools.continue(filledIn(again)));
    expect(next.checkpointToken).toBeUndefined();
    expect(next.pending?.prompt).toContain('NOTES: send output.notesMarkdown for this step alone, in 10 to 30 lines.');
    const shown = value(await tools.continue({ stateToken: next.stateToken }));
    expect(shown.checkpointToken).toBeDefined();
    expect(shown.pending?.prompt).toContain('what you did and decided, what you produced');
  });
});
