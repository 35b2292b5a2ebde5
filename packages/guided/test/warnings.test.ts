import { recordedWarnings } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, eventsOf, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const workflow = {
  id: 'project.loops',
  name: 'Loops',
  description: 'Decides too early.',
  version: '1.0.0',
  recommendedPreferences: { recommendedAutonomy: 'guided' },
  steps: [
    {
      id: 'early',
      title: 'Early',
      prompt: 'Decide.',
      outputContract: { contractRef: 'wr.contracts.loop_control' },
    },
    { id: 'late', title: 'Late', prompt: 'Go on.' },
  ],
};

function opened() {
  const [flows, directory] = [dataDirectory(), dataDirectory()];
  writeWorkflow(flows, 'loops.json', workflow);
  return { directory, tools: openTools(directory, { directories: [{ kind: 'project', directory: flows }] }) };
}

describe('a warning', () => {
  it('[G100] is recorded on the node of its attempt, and survives in the journal', async () => {
    const { directory, tools } = opened();
    const start = value(await tools.start({ workflowId: 'project.loops' }));
    const stop = { notesMarkdown: 'Stop.', artifacts: [{ kind: 'wr.loop_control', decision: 'stop' }] };
    await tools.continue({ stateToken: start.stateToken, ackToken: start.ackToken, output: stop });
    const traces = eventsOf(directory, start.sessionId).flatMap(event =>
      event.kind === 'decision_trace_appended' ? [recordedWarnings(event.data.entries).map(({ code }) => code)] : [],
    );
    expect(traces).toEqual([['recommendation_exceeded'], ['recommendation_exceeded', 'loop_decision_ignored']]);
  });

  it('[G101] about a decision that no loop reads is in the answer, again after a restart', async () => {
    const { directory, tools } = opened();
    const start = value(await tools.start({ workflowId: 'project.loops' }));
    const output = { notesMarkdown: 'Stop.', artifacts: [{ kind: 'wr.loop_control', decision: 'stop' }] };
    const call = { stateToken: start.stateToken, ackToken: start.ackToken, output };
    const late = value(await tools.continue(call));
    expect(late.warnings.map(({ code }) => code)).toContain('loop_decision_ignored');
    expect(value(await openTools(directory).continue(call))).toEqual(late);
    const end = value(await tools.continue(filledIn(late)));
    expect(end.warnings.map(({ code }) => code)).not.toContain('loop_decision_ignored');
  });
});
