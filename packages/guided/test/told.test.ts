import { appendFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listSessions } from '../src/index.ts';
import { openSessionIndex } from '../src/sessions/session-index.ts';
import { filledIn, NOTES } from './support/agent-calls.ts';
import { dataDirectory, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const step = (id: string) => ({ id, title: id, prompt: `Do ${id}.` });
const workflow = (description: string) => ({
  id: 'project.x',
  name: 'X',
  description,
  version: '1.0.0',
  steps: [step('one'), step('two'), step('three')],
});

function opened() {
  const [flows, directory] = [dataDirectory(), dataDirectory()];
  writeWorkflow(flows, 'x.json', workflow('As it began.'));
  const tools = openTools(directory, { directories: [{ kind: 'project', directory: flows }] });
  return { flows, directory, tools };
}

const codes = ({ warnings }: { readonly warnings: readonly { readonly code: string }[] }) =>
  warnings.map(({ code }) => code);

describe('what an agent and a person are told', () => {
  it('[G107] a session whose segment was damaged is listed as damaged, by a known index and by a new one', async () => {
    const { directory, tools } = opened();
    const { sessionId } = value(await tools.start({ workflowId: 'project.x' }));
    const options = { dataDirectory: directory, ports };
    const index = openSessionIndex(options);
    const health = (sessions: ReturnType<typeof listSessions>) => value(sessions).map(session => session.health);
    expect([health(index.list()), health(listSessions(options))]).toEqual([['healthy'], ['healthy']]);
    const events = path.join(directory, 'sessions', sessionId, 'events');
    appendFileSync(path.join(events, readdirSync(events)[0] ?? ''), ' ');
    expect([health(index.list()), health(listSessions(options))]).toEqual([['corrupt_head'], ['corrupt_head']]);
  });

  it('[G108] rehydrating a place that was left says so, and where the tip is', async () => {
    const { tools } = opened();
    const one = value(await tools.start({ workflowId: 'project.x' }));
    const two = value(await tools.continue(filledIn(one)));
    const three = value(await tools.continue(filledIn(two)));
    const again = value(await tools.continue({ stateToken: one.stateToken }));
    const told = again.warnings.find(({ code }) => code === 'not_the_tip')?.message ?? '';
    expect(told).toContain('begins another branch');
    expect(told).toContain('at step three');
    const tip = value(await tools.continue({ stateToken: told.split(' ').at(-1) ?? '' }));
    expect([tip.nodeId, codes(tip)]).toEqual([three.nodeId, []]);
  });

  it('[G109] resume_session says when nothing matched what was asked for', async () => {
    const { tools } = opened();
    await tools.start({ workflowId: 'project.x' });
    expect(codes(value(await tools.resume({ query: 'zebra' })))).toEqual(['nothing_matched']);
    expect(codes(value(await tools.resume({ gitBranch: 'elsewhere' })))).toEqual(['nothing_matched']);
    expect(codes(value(await tools.resume({ query: 'project x' })))).toEqual([]);
    expect(codes(value(await tools.resume({})))).toEqual([]);
  });

  it('[G110] drift of the source is told with the next advance, once, and the same when the call is repeated', async () => {
    const { flows, directory, tools } = opened();
    const one = value(await tools.start({ workflowId: 'project.x' }));
    const two = value(await tools.continue(filledIn(one)));
    expect(codes(two)).toEqual([]);
    writeWorkflow(flows, 'x.json', workflow('Changed since.'));
    const call = filledIn(two);
    const three = value(await tools.continue(call));
    expect(codes(three)).toEqual(['pinned_drift']);
    writeWorkflow(flows, 'x.json', workflow('As it began.'));
    expect(value(await openTools(directory).continue(call))).toEqual(three);
    expect(codes(value(await tools.continue(filledIn(three))))).toEqual(['workflow_complete']);
  });

  it('[G111] a workflow that cannot be started is refused in one short line', async () => {
    const { flows, tools } = opened();
    const prompt = 'x'.repeat(3_000);
    const steps = [
      { id: 'A B', title: 'a', prompt },
      { id: 'A B', title: 'b' },
      { id: 'c', title: 'c', type: 'loop' },
    ];
    writeWorkflow(flows, 'bad.json', { id: 'project.bad', name: 'B', description: 'b', version: '1.0.0', steps });
    const { workflows } = value(await tools.list({}));
    const { refused = '' } = workflows.find(({ workflowId }) => workflowId === 'project.bad') ?? {};
    expect(refused).toMatch(/^\/steps\/0\/id: .*\(and \d+ more\)$/);
    expect(refused.length).toBeLessThan(240);
  });

  it('[G112] an agent without subagents has the text of the routines, and goes on without them', async () => {
    const tools = openTools(dataDirectory());
    let at = value(await tools.start({ workflowId: 'wr.research' }));
    for (let n = 0; at.pending?.stepId !== 'gather' && n < 9; n++) at = value(await tools.continue(filledIn(at)));
    for (const text of [
      'If you have no subagents, do each part yourself in this order',
      'Step 1: Gather sources',
      'Look for at least one source that disagrees',
      'Step 2: Answer the question',
    ]) {
      expect(at.pending?.prompt).toContain(text);
    }
    expect(at.pending?.prompt.match(/Step 1: Gather sources/g)).toHaveLength(1);
    const capabilityObservations = [
      { kind: 'attempted_use', capability: 'delegation', result: 'failure', failureCode: 'tool_missing' } as const,
    ];
    const call = filledIn(at);
    const output = {
      ...call.output,
      notesMarkdown: `No subagents: did each part myself.\n${NOTES}`,
      capabilityObservations,
    };
    const next = value(await tools.continue({ ...call, output }));
    expect(next).toMatchObject({ kind: 'ok', pending: { stepId: 'gather__synthesis' } });
  });
});
