import { appendFileSync, cpSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { GuidedTools } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, filesUnder, value } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const research = { workflowId: 'wr.research' } as const;

describe('damage', () => {
  it('[G18] a damaged session is not continued, shown or offered; others are', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const bad = value(await tools.start(research));
    const good = value(await tools.start(research));
    const events = path.join(directory, 'sessions', bad.sessionId, 'events');
    appendFileSync(path.join(events, readdirSync(events)[0] ?? ''), ' ');
    const fresh = openTools(directory);
    expect(errorOf(await fresh.continue(filledIn(bad))).code).toBe('SESSION_CORRUPT');
    expect(errorOf(await fresh.continue({ stateToken: bad.stateToken })).code).toBe('SESSION_CORRUPT');
    expect(errorOf(await fresh.checkpoint({ checkpointToken: bad.checkpointToken ?? '' })).code).toBe(
      'SESSION_CORRUPT',
    );
    const { candidates, warnings } = value(await fresh.resume({}));
    expect(candidates.map(({ runId }) => runId)).toEqual([good.runId]);
    expect(warnings).toMatchObject([{ code: 'session_not_healthy' }]);
    expect(value(await fresh.continue(filledIn(good))).kind).toBe('ok');
  });

  it('[G18] a missing or changed pinned workflow or snapshot is named, and nothing is written', async () => {
    const directory = dataDirectory();
    const start = value(await openTools(directory).start(research));
    for (const [folder, code] of [
      ['snapshots', 'STORE_SNAPSHOT_MISSING'],
      ['workflows/pinned', 'STORE_SNAPSHOT_MISSING'],
    ] as const) {
      const copy = dataDirectory();
      cpSync(directory, copy, { recursive: true });
      rmSync(path.join(copy, folder), { recursive: true });
      const before = filesUnder(copy);
      expect(errorOf(await openTools(copy).continue(filledIn(start))).code).toBe(code);
      expect(errorOf(await openTools(copy).continue({ stateToken: start.stateToken })).code).toBe(code);
      expect(filesUnder(copy)).toEqual(before);
    }
  });

  it('[G19] an attempt that was offered after the last record is refused, not made up', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(research));
    const backup = dataDirectory();
    cpSync(directory, backup, { recursive: true });
    value(await tools.continue({ ...filledIn(start), output: {} }));
    const later = value(await tools.continue({ stateToken: start.stateToken }));
    const before = filesUnder(backup);
    expect(errorOf(await openTools(backup).continue(filledIn(later))).code).toBe('SESSION_INVARIANT_VIOLATION');
    expect(filesUnder(backup)).toEqual(before);
  });

  it('[G20] invalid input is refused by name before anything is done', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start(research));
    const { stateToken, ackToken = '' } = start;
    const before = filesUnder(directory);
    const wrong: readonly (readonly [keyof GuidedTools, unknown, string])[] = [
      ['list', { all: true }, 'the input'],
      ['inspect', {}, 'workflowId'],
      ['inspect', { workflowId: 'wr.research', mode: 'all' }, 'mode'],
      ['start', { workflowId: 7 }, 'workflowId'],
      ['start', { ...research, context: [] }, 'context'],
      ['start', { ...research, workspacePath: 'relative' }, 'workspacePath'],
      ['continue', null, 'the input'],
      ['continue', { stateToken, ackToken, output: { notesMarkdown: '\ud800' } }, 'output.notesMarkdown'],
      ['continue', { stateToken, ackToken, output: { artifacts: [undefined] } }, 'output.artifacts.0'],
      ['continue', { stateToken, ackToken, output: { artifacts: ['x'.repeat(2_000_000)] } }, 'output.artifacts'],
      ['continue', { stateToken, ackToken, intent: 'skip' }, 'intent'],
      ['checkpoint', {}, 'checkpointToken'],
      ['resume', { gitHeadSha: 'HEAD' }, 'gitHeadSha'],
    ];
    for (const [name, input, field] of wrong) {
      const refused = errorOf<unknown>(await tools[name](input as never));
      expect([name, refused.code, refused.details]).toMatchObject([name, 'VALIDATION_ERROR', { field }]);
    }
    expect(filesUnder(directory)).toEqual(before);
  });
});
