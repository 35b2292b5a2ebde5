import type { AgentRunner } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { snapshotOf } from '../src/contract-view/run-view.ts';
import { treeAt } from '../src/host/run-tree.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const approve = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;

/** An agent that asks in the middle of its work and goes on with the answer. */
const asking: AgentRunner = {
  async run(_, session) {
    const proposal = { tool: 'run_command' };
    const answer = await session.answered({ call: 'one', kind: 'command_exec', proposal }, 600_000);
    return answer === undefined
      ? { kind: 'blocked', reason: 'approval_required:command_exec' }
      : { kind: 'done', output: answer.resolutionType };
  },
};

describe('an agent that waits for a person in the middle of its work', () => {
  it('[A701] shows as waiting wherever its node is shown, and goes on in the same attempt', async () => {
    const opened = await openTestHost(temporaryFolder(), { agents: asking });
    const { host, store, start, end } = opened;
    try {
      const run = await start('plan', planText('<Agent id="agent" model="test:any" prompt="Do it." />'));
      const [asked] = await until(async () => {
        const found = await store.decisions({ run, status: ['open'] });
        return found.length > 0 ? found : undefined;
      });
      const shown = await snapshotOf(host, run);
      expect(shown).toMatchObject({ record: { status: 'running' }, openDecisions: 1 });
      const waits = { status: 'blocked', reason: 'approval_required:command_exec' };
      expect(shown?.tree.find(({ id }) => id === 'agent')).toMatchObject(waits);
      expect(Object.values(shown?.nodes ?? {})).toMatchObject([
        { status: 'blocked', summary: 'blocked: approval_required:command_exec' },
      ]);
      const open = await store.decisions({ run, status: ['open'] });
      const frames = (await store.run(run))?.frames ?? 0;
      const statusIn = async (decisions: typeof open) =>
        JSON.stringify(await treeAt(store, run, frames, decisions))
          .match(/"status":"(running|blocked)"/g)
          ?.at(-1);
      expect([await statusIn(open), await statusIn([])]).toEqual(['"status":"blocked"', '"status":"running"']);

      expect(await host.answer(asked?.decision.id as never, { resolution: approve }, 'ada')).toMatchObject({
        ok: true,
      });
      expect(await end(run)).toMatchObject({ status: 'completed' });
      expect(await store.tasks(run)).toMatchObject([{ status: 'done', retryCount: 0 }]);
      const events = (await store.events(run, 0, 500)).map(({ event }) => event);
      expect(events.filter(event => event.type === 'node.status' && event.to === 'blocked')).toEqual([]);
    } finally {
      await opened.close();
    }
  });
});
