import { nodeHasher } from '@signalbox/journal';
import type { JsonObject } from '@signalbox/model';
import { projectRunDags } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, eventsOf, filesUnder, value, walk } from '../../../guided/test/support/guided-walk.ts';
import type { GuidedTools, StepAnswer } from '../../src/guided/index.ts';
import { openTools } from '../support/open-tools.ts';

const TIMES = 100;
const workflowId = 'wr.bug-investigation';

/** The bytes of an answer, or of a refusal. */
async function bytesOf(call: Promise<unknown>): Promise<string> {
  return JSON.stringify(await call);
}

describe('[W170] the same call, a hundred times', () => {
  type Call = (tools: GuidedTools) => Promise<unknown>;

  it('has one answer, byte for byte, and leaves every file as it was', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId, startKey: 'k' }));
    const lacking = { ...filledIn(start), output: { notesMarkdown: 'done' } };
    value(await tools.continue(lacking));
    const fresh = value(await tools.continue({ stateToken: start.stateToken }));
    const next = value(await tools.continue(filledIn(fresh)));
    const { checkpointToken = '' } = value(await tools.continue({ stateToken: next.stateToken }));
    const marking = { checkpointToken, notesMarkdown: 'Half of it.' };
    value(await tools.checkpoint(marking));
    const calls: Readonly<Record<string, Call>> = {
      'a start with a key': each => each.start({ workflowId, startKey: 'k' }),
      'an attempt that was blocked': each => each.continue(lacking),
      'the same attempt with other contents': each => each.continue({ ...lacking, output: {}, context: { a: 1 } }),
      'an attempt that went through': each => each.continue(filledIn(fresh)),
      'a checkpoint': each => each.checkpoint(marking),
      'a place that is shown again': each => each.continue({ stateToken: next.stateToken }),
      'a place that was left': each => each.continue({ stateToken: start.stateToken }),
      'a token that is none': each => each.continue({ stateToken: 'st.v1.x.y' }),
      'the list': each => each.list({}),
      'an inspection': each => each.inspect({ workflowId }),
      'what can be resumed': each => each.resume({ query: 'evidence' }),
    };
    const before = filesUnder(directory);
    const servers = [tools, openTools(directory), openTools(directory)];
    for (const [name, call] of Object.entries(calls)) {
      const answers = new Set<string>();
      for (let time = 0; time < TIMES; time++) {
        const server = servers[time % servers.length];
        if (server !== undefined) answers.add(nodeHasher(await bytesOf(call(server))));
      }
      expect([name, answers.size]).toEqual([name, 1]);
    }
    expect(filesUnder(directory)).toEqual(before);
  });

  it('sent all at once is one attempt', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId }));
    const answers = await Promise.all(Array.from({ length: TIMES }, () => bytesOf(tools.continue(filledIn(start)))));
    expect(new Set(answers).size).toBe(1);
    const attempts = eventsOf(directory, start.sessionId).filter(({ kind }) => kind === 'advance_recorded');
    expect(attempts.length).toBe(1);
  });
});

describe('[W171] attempts from one place', () => {
  const BRANCHES = 12;

  it('are as many branches, each with its own notes, and each can be walked to its end', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(
      await tools.start({ workflowId: 'wr.research', preferences: { autonomy: 'full_auto_never_stop' } }, 'person'),
    );
    const branches: StepAnswer[] = [];
    for (let branch = 0; branch < BRANCHES; branch++) {
      const here = value(await tools.continue({ stateToken: start.stateToken }));
      const call = filledIn(here);
      const output = {
        ...(call.output as JsonObject),
        notesMarkdown: `Branch ${branch}.\n${call.output?.notesMarkdown}`,
      };
      branches.push(value(await tools.continue({ ...call, output } as typeof call)));
    }
    expect(new Set(branches.map(({ nodeId }) => nodeId)).size).toBe(BRANCHES);
    const events = eventsOf(directory, start.sessionId);
    const [dag] = projectRunDags(events).values();
    expect(dag?.nodes.get(start.nodeId)?.children.toSorted()).toEqual(branches.map(({ nodeId }) => nodeId).sort());
    const causes = events.flatMap(event => (event.kind === 'edge_created' ? [event.data.cause.kind] : []));
    expect(causes).toEqual(['intentional_fork', ...Array.from({ length: BRANCHES - 1 }, () => 'non_tip_advance')]);
    for (const branch of [branches[0], branches.at(-1)]) {
      if (branch === undefined) continue;
      expect((await walk(tools, branch)).last.isComplete).toBe(true);
    }
    const shown = value(await tools.continue({ stateToken: start.stateToken }));
    expect(shown.pending?.prompt).toContain('OTHER BRANCHES FROM HERE:');
  });

  it('stand at the same snapshot where the same was done: only what was said differs', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const start = value(await tools.start({ workflowId }));
    const refs = new Set<string>();
    for (let branch = 0; branch < 3; branch++) {
      value(await tools.continue(filledIn(value(await tools.continue({ stateToken: start.stateToken })))));
    }
    for (const event of eventsOf(directory, start.sessionId)) {
      if (event.kind === 'node_created' && event.data.parentNodeId !== null) refs.add(event.data.snapshotRef);
    }
    expect(refs.size).toBe(1);
  });
});
