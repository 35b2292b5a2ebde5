import { describe, expect, it } from 'vitest';
import { guidedSchemas } from '../src/index.ts';
import { filledIn, keysOf } from './support/agent-calls.ts';
import { dataDirectory, errorOf, filesUnder, value, walk } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const BUNDLED = ['wr.bug-investigation', 'wr.code-review', 'wr.feature-development', 'wr.research'] as const;
const neverStop = { autonomy: 'full_auto_never_stop' } as const;
const context = { slices: ['one', 'two'] };

describe('a guided workflow', () => {
  it('[G1] is listed and inspected without its prompts', async () => {
    const tools = openTools(dataDirectory());
    const listed = guidedSchemas.list.answer.parse(value(await tools.list({})));
    expect(listed.workflows.map(({ workflowId }) => workflowId)).toEqual(BUNDLED);
    const withRoutines = value(await tools.list({ includeRoutines: true }));
    expect(withRoutines.workflows.filter(({ isRoutine }) => isRoutine).length).toBeGreaterThan(0);

    const shown = guidedSchemas.inspect.answer.parse(value(await tools.inspect({ workflowId: 'wr.research' })));
    expect(shown.steps?.length).toBeGreaterThan(3);
    expect(JSON.stringify(shown)).not.toContain('prompt":');
    const brief = value(await tools.inspect({ workflowId: 'wr.research', mode: 'metadata' }));
    expect(brief).toEqual({ ...shown, steps: undefined });
    expect(errorOf(await tools.inspect({ workflowId: 'wr.reserch' })).code).toBe('workflow/unknown');
  });

  it.each(BUNDLED)('[G2] %s is walked to its end by doing what each answer says is next', async workflowId => {
    const tools = openTools(dataDirectory());
    const start = value(await tools.start({ workflowId, context, preferences: neverStop }, 'person'));
    const { answers, last } = await walk(tools, start);
    for (const answer of answers) {
      expect(guidedSchemas.continue.answer.parse(answer)).toEqual(answer);
      expect(answer).toMatchObject({ workflow: { workflowId }, sessionId: start.sessionId, runId: start.runId });
    }
    expect(last).toMatchObject({ isComplete: true, pending: null, nextIntent: 'complete', nextCall: null });
    expect(last.warnings.map(({ code }) => code)).toContain('workflow_complete');
    expect(new Set(keysOf(answers)).size).toBe(answers.length);
    expect(answers.length).toBeGreaterThan(4);
    const waits = workflowId === 'wr.feature-development' ? ['user_only_dependency:needs_user_approval'] : [];
    expect(last.gaps.map(({ reason }) => reason)).toEqual(waits);
  });

  it.each(BUNDLED)('[G102] %s is not walked one step by sending its templates back, in any mode', async workflowId => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId, context, preferences: neverStop }, 'person'));
    const { answers } = await walk(tools, start);
    const before = filesUnder(directory);
    for (const answer of answers.slice(0, -1)) {
      const call = answer.nextCall?.arguments as Parameters<typeof tools.continue>[0];
      // A place whose attempt is recorded repeats that attempt; only a new one could pass.
      const fresh = value(await tools.continue({ stateToken: answer.stateToken }));
      const ahead = { ...call, ackToken: fresh.ackToken };
      for (const output of [call.output, { ...call.output, notesMarkdown: 'Done, and looked at.' }]) {
        if (output?.artifacts === undefined && output !== call.output) continue;
        const refused = errorOf(await tools.continue({ ...ahead, output }));
        expect(refused).toMatchObject({
          code: 'VALIDATION_ERROR',
          details: { field: expect.stringMatching(/^output\./) },
        });
      }
    }
    expect(filesUnder(directory)).toEqual(before);
  });

  it('[G3] answers the same call with the same bytes, every time and in every process, and appends nothing', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(
      await tools.start({ workflowId: 'wr.research', context, preferences: neverStop, startKey: 'k' }, 'person'),
    );
    const { answers } = await walk(tools, start);
    const before = filesUnder(directory);
    const other = openTools(directory);
    for (const [index, answer] of answers.slice(0, -1).entries()) {
      const call = filledIn(answer);
      for (const again of [tools, other, other]) {
        expect(JSON.stringify(value(await again.continue(call)))).toBe(JSON.stringify(answers[index + 1]));
      }
    }
    const again = value(await other.start({ workflowId: 'wr.research', startKey: 'k' }));
    expect(JSON.stringify(again)).toBe(JSON.stringify(start));
    expect(filesUnder(directory)).toEqual(before);
  });

  it('[G3] repeats the answer to a blocked attempt, even after a later one passed', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.bug-investigation' }));
    const bad = { ...filledIn(start), output: { notesMarkdown: 'done' } };
    const blocked = value(await tools.continue(bad));
    expect(blocked).toMatchObject({ kind: 'blocked', nodeId: start.nodeId, pending: { stepId: 'reproduce' } });
    expect(blocked.blockers.map(({ code }) => code)).toEqual(['INVALID_REQUIRED_OUTPUT', 'INVALID_REQUIRED_OUTPUT']);
    expect(guidedSchemas.continue.answer.parse(blocked)).toEqual(blocked);
    expect(blocked.ackToken).toBeUndefined();
    expect(blocked.gaps.length).toBe(2);

    const fresh = value(await tools.continue(blocked.nextCall?.arguments as never));
    expect(fresh).toMatchObject({ kind: 'ok', nodeId: start.nodeId });
    expect(fresh.ackToken).not.toBe(start.ackToken);
    const mended = value(await tools.continue(filledIn(fresh)));
    expect(mended).toMatchObject({ kind: 'ok', pending: { stepId: 'hypotheses' }, gaps: [] });

    expect(JSON.stringify(value(await tools.continue(bad)))).toBe(JSON.stringify(blocked));
    expect(JSON.stringify(value(await tools.continue(filledIn(start))))).toBe(JSON.stringify(blocked));
  });

  it('[G4] is shown again without a change, with the earlier notes', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.bug-investigation' }));
    const last = value(await tools.continue(filledIn(start)));
    const before = filesUnder(directory);
    const { stateToken } = last;
    const shown = value(await openTools(directory).continue({ stateToken }));
    expect(shown.pending?.prompt).toContain('RECAP OF EARLIER STEPS:');
    expect(shown.pending?.prompt).toContain('Evidence 1: the second run fails');
    expect({ ...shown, pending: undefined, outputs: undefined, checkpointToken: undefined }).toEqual({
      ...last,
      pending: undefined,
    });
    expect(value(await tools.continue({ stateToken, intent: 'rehydrate' }))).toEqual(shown);
    expect(filesUnder(directory)).toEqual(before);
    for (const extra of [{ output: {} }, { context: {} }, { preferences: {} }, { ackToken: last.ackToken ?? '' }]) {
      const refused = errorOf(await tools.continue({ stateToken, intent: 'rehydrate', ...extra }));
      expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: Object.keys(extra)[0] } });
    }
    expect(errorOf(await tools.continue({ stateToken, intent: 'advance' })).code).toBe('VALIDATION_ERROR');
  });
});
