import { readdirSync } from 'node:fs';
import type { JsonObject } from '@signalbox/model';
import { modePresets } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';

const loopFirst = {
  id: 'project.each',
  name: 'Each',
  description: 'Begins with a loop over files.',
  version: '1.0.0',
  steps: [
    {
      id: 'files-loop',
      type: 'loop',
      title: 'Files',
      loop: { type: 'forEach', maxIterations: 3, items: 'files' },
      body: [{ id: 'read', title: 'Read', prompt: 'Read {{currentItem}}.' }],
    },
    { id: 'end', title: 'End', prompt: 'Sum up.' },
  ],
};

const skipsAll = {
  id: 'old-style',
  name: 'Old style',
  description: 'Runs only where it is wanted.',
  version: '1.0.0',
  steps: [{ id: 'only', title: 'Only', prompt: 'Do it.', runCondition: { var: 'wanted', equals: true } }],
};

function toolsWith(...workflows: readonly JsonObject[]) {
  const flows = dataDirectory();
  for (const workflow of workflows) writeWorkflow(flows, `${String(workflow.id)}.json`, workflow);
  const directory = dataDirectory();
  return {
    directory,
    tools: openTools(directory, {
      directories: [{ kind: 'project', directory: flows }],
      preferences: modePresets.guided,
    }),
  };
}

describe('a start', () => {
  it('[G21] that cannot choose a first step says what is missing and leaves nothing; if it never stops, it is a gap', async () => {
    const { directory, tools } = toolsWith(loopFirst);
    const refused = errorOf(await tools.start({ workflowId: 'project.each' }));
    expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', suggestion: expect.stringContaining('files') });
    expect(readdirSync(directory)).toEqual(['keys']);

    const preferences = { autonomy: 'full_auto_never_stop' } as const;
    const gone = value(await tools.start({ workflowId: 'project.each', preferences }, 'person'));
    expect(gone).toMatchObject({ pending: { stepId: 'end' }, gaps: [{ severity: 'critical' }] });
    const given = value(await tools.start({ workflowId: 'project.each', context: { files: ['a.ts'] } }));
    expect(given.pending).toMatchObject({ stepInstanceKey: 'files-loop@0::read' });
    expect(given.pending?.prompt).toContain('Read a.ts.');
    const kinds = eventsOf(directory, given.sessionId).map(({ kind }) => kind);
    expect(kinds).toEqual(['session_created', 'run_started', 'context_set', 'node_created', 'decision_trace_appended']);
  });

  it('[G21] whose conditions leave nothing to do is complete, and says so; an id of the old form causes a warning', async () => {
    const { tools } = toolsWith(skipsAll);
    const done = value(await tools.start({ workflowId: 'old-style' }));
    expect(done).toMatchObject({ isComplete: true, pending: null, nextIntent: 'complete', nextCall: null });
    expect(done.ackToken).toBeUndefined();
    expect(done.warnings).toContainEqual({
      code: 'workflow_complete',
      message: expect.stringContaining('Complete without a step'),
    });
    expect(done.warnings.map(({ code }) => code)).toContain('workflow_id_legacy');
    const wanted = value(await tools.start({ workflowId: 'old-style', context: { wanted: true } }));
    expect(value(await tools.continue(filledIn(wanted))).isComplete).toBe(true);
  });

  it('[G21] is one run for its key, and a key is for one workflow', async () => {
    const { tools } = toolsWith(skipsAll);
    const first = value(await tools.start({ workflowId: 'bug-investigation', startKey: 'mine' }));
    expect(first).toMatchObject({ workflow: { workflowId: 'wr.bug-investigation' } });
    expect(first.warnings.map(({ code }) => code)).toContain('workflow_id_alias');
    expect(value(await tools.start({ workflowId: 'bug-investigation', startKey: 'mine' }))).toEqual(first);
    expect(value(await tools.start({ workflowId: 'bug-investigation' })).runId).not.toBe(first.runId);
    expect(errorOf(await tools.start({ workflowId: 'old-style', startKey: 'mine' })).code).toBe('run/duplicate-key');
  });
});
