import { deriveId, type SessionId } from '@signalbox/model';
import { startChild } from '@signalbox/testkit';
import { projectRunDags } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';
import { sized } from '../../../../test/sized.ts';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, filesUnder, value, walk } from '../../../guided/test/support/guided-walk.ts';
import { openTools } from '../support/open-tools.ts';

const script = childScript(import.meta.dirname, 'guided-child.ts');
/** Points of the walk, evenly spread, at which a process is killed. */
const KILLS = sized(2, 8, 150);

const sessionOf = (key: string) => deriveId<SessionId>('guided.session', key);

async function run(...args: readonly (string | number)[]) {
  const end = await startChild(script, ...args).ended;
  return {
    ...end,
    told: end.code === 0 ? (JSON.parse(end.stdout) as { operations: number; keys: string[] }) : undefined,
  };
}

describe('guided sessions in several processes', () => {
  it('[G15] are the same, byte for byte, after a process was killed anywhere and the same calls were sent again', async () => {
    const whole = dataDirectory();
    const { told } = await run(whole, 'k');
    if (told === undefined) throw new Error('the walk failed');
    const journal = [...filesUnder(whole)].filter(([file]) => file.startsWith('sessions/'));
    const points = Array.from({ length: KILLS }, (_, index) => Math.floor(((index + 0.5) * told.operations) / KILLS));
    for (const [index, point] of points.entries()) {
      const directory = dataDirectory();
      const killed = await run(directory, 'k', index % 2 === 0 ? 'before' : 'after', point);
      expect(killed.signal).toBe('SIGKILL');
      expect((await run(directory, 'k')).told?.keys).toEqual(told.keys);
      const again = [...filesUnder(directory)].filter(
        ([file]) => file.startsWith('sessions/') && !file.endsWith('.tmp'),
      );
      expect(again).toEqual(journal);
    }
  });

  it('[G16] are served by two processes at once: one walk, no call lost, no step taken twice', async () => {
    const directory = dataDirectory();
    const [one, two] = await Promise.all([run(directory, 'k'), run(directory, 'k')]);
    expect(one.told?.keys).toEqual(two.told?.keys);
    const dag = [...projectRunDags(eventsOf(directory, sessionOf('k'))).values()];
    expect(dag.length).toBe(1);
    expect([...(dag[0]?.nodes.values() ?? [])].every(({ children }) => children.length <= 1)).toBe(true);
    expect(dag[0]?.nodes.size).toBe((one.told?.keys.length ?? 0) + 1);
  });

  it('[G16] answer with a retryable TOKEN_SESSION_LOCKED while another holds the session, and rehydrate and replay go on', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    const next = value(await tools.continue(filledIn(start)));
    const busy = openTools(directory, { locks: { acquire: async () => ({ ok: false, error: { code: 'busy' } }) } });
    expect(errorOf(await busy.continue(filledIn(next)))).toMatchObject({
      code: 'TOKEN_SESSION_LOCKED',
      retry: { kind: 'retryable_after_ms' },
    });
    const { checkpointToken = '' } = value(await busy.continue({ stateToken: next.stateToken }));
    const marked = await busy.checkpoint({ checkpointToken });
    expect(errorOf(marked).code).toBe('TOKEN_SESSION_LOCKED');
    expect(value(await busy.continue({ stateToken: next.stateToken })).nodeId).toBe(next.nodeId);
    expect(value(await busy.continue(filledIn(start)))).toEqual(next);
  });

  it('[G17] refuse no call because of one before it: many at once, of one session, are all answered', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId: 'wr.research' }));
    const calls = Array.from({ length: 20 }, () => tools.continue(filledIn(start)));
    const answers = (await Promise.all(calls)).map(answer => JSON.stringify(value(answer)));
    expect(new Set(answers).size).toBe(1);
    const { last } = await walk(tools, JSON.parse(answers[0] ?? ''), {});
    expect(last.isComplete).toBe(true);
  });
});
