import type { JsonObject } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { projectRunDags } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { type GuidedTools, openGuidedDesk, type StepAnswer } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, filesUnder, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const flow: JsonObject = {
  id: 'project.fix',
  name: 'Fix',
  description: 'Looks, judges and tells.',
  version: '1.0.0',
  steps: [
    {
      id: 'look',
      title: 'Look',
      prompt: 'Look at it.',
      validationCriteria: [{ type: 'contains', value: 'EVIDENCE', message: 'Notes must have EVIDENCE' }],
    },
    {
      id: 'judge',
      title: 'Judge',
      prompt: 'Judge it.',
      outputContract: { contractRef: 'wr.contracts.gate_verdict' },
    },
    { id: 'choose', title: 'Choose', prompt: 'Choose.', nonAssumableChoices: ['irreversible_action'] },
    { id: 'tell', title: 'Tell', prompt: 'Tell it.' },
  ],
};

async function judged(): Promise<{ directory: string; tools: GuidedTools; start: StepAnswer; at: StepAnswer }> {
  const directory = dataDirectory();
  const flows = dataDirectory();
  writeWorkflow(flows, 'fix.json', flow);
  const tools = openTools(directory, { directories: [{ kind: 'project', directory: flows }] });
  const start = value(await tools.start({ workflowId: 'project.fix' }));
  const look = { ...filledIn(start), output: { notesMarkdown: 'EVIDENCE: it is red.\nMore.' } };
  const next = value(await tools.continue(look));
  const { stateToken } = value(await tools.continue(filledIn(next)));
  return { directory, tools, start, at: value(await tools.continue({ stateToken })) };
}

/** Keeps the contract of the step "judge". */
const GATE: JsonObject = {
  kind: 'wr.gate_verdict',
  version: 1,
  verdict: 'approved',
  confidence: 'high',
  rationale: 'It was looked at twice, by two.',
};

type Corrections = NonNullable<NonNullable<Parameters<GuidedTools['continue']>[0]['output']>['corrections']>;

const correcting = (at: StepAnswer, corrections: Corrections, notesMarkdown = 'Chose it.') => ({
  ...filledIn(at),
  output: { notesMarkdown, corrections },
});

const idOf = (at: StepAnswer, stepInstanceKey: string, channel = 'recap') =>
  at.outputs?.find(output => output.stepInstanceKey === stepInstanceKey && output.outputChannel === channel)
    ?.outputId ?? '';

describe('earlier outputs', () => {
  it('[G38] are listed by a rehydrate, and corrected with the next step: the old one stays, the new one counts', async () => {
    const { directory, tools, start, at } = await judged();
    expect(start.outputs).toBeUndefined();
    expect(at.outputs?.map(({ stepInstanceKey, outputChannel }) => [stepInstanceKey, outputChannel])).toEqual([
      ['look', 'recap'],
      ['judge', 'recap'],
      ['judge', 'artifact'],
    ]);
    expect(at.outputs?.[0]?.excerpt).toBe('EVIDENCE: it is red.');
    const verdict = at.outputs?.[2]?.excerpt;

    const call = correcting(at, [
      {
        outputId: idOf(at, 'judge', 'artifact'),
        artifact: { ...GATE, rationale: 'It was blue after all, as two saw.' },
      },
      { outputId: idOf(at, 'look'), notesMarkdown: 'EVIDENCE: it is blue.' },
    ]);
    const next = value(await tools.continue(call));
    expect(next).toMatchObject({ kind: 'ok', pending: { stepId: 'tell' } });
    const shown = value(await tools.continue({ stateToken: next.stateToken }));
    expect(shown.outputs?.map(({ excerpt }) => excerpt)).toContain('EVIDENCE: it is blue.');
    expect(shown.outputs?.map(({ excerpt }) => excerpt)).not.toContain(verdict);
    expect(JSON.stringify(value(await tools.continue(call)))).toBe(JSON.stringify(next));

    const { prompt } = value(await tools.continue({ stateToken: next.stateToken })).pending ?? {};
    expect(prompt).toContain('it is blue');
    expect(prompt).not.toContain('it is red');
    const events = eventsOf(directory, start.sessionId);
    const outputs = events.flatMap(event => (event.kind === 'node_output_appended' ? [event] : []));
    const corrections = outputs.filter(({ data }) => data.supersedesOutputId !== undefined);
    expect(corrections.map(({ data, scope }) => [data.outputChannel, scope.nodeId, data.supersedesOutputId])).toEqual([
      ['recap', start.nodeId, idOf(at, 'look')],
      ['artifact', expect.any(String), idOf(at, 'judge', 'artifact')],
    ]);
    expect(JSON.stringify(outputs)).toContain('it is red');
    const [dag] = projectRunDags(events).values();
    expect([...(dag?.nodes.values() ?? [])].every(({ children }) => children.length <= 1)).toBe(true);
    expect(dag?.preferredTip?.nodeId).toBe(next.nodeId);

    // A correction is corrected by its own id.
    const old = correcting(next, [{ outputId: idOf(at, 'look'), notesMarkdown: 'EVIDENCE: green.' }]);
    expect(errorOf(await tools.continue(old)).message).toContain('not an output that stands');
    const again = correcting(next, [{ outputId: idOf(shown, 'look'), notesMarkdown: 'EVIDENCE: green.' }]);
    expect(value(await tools.continue(again)).isComplete).toBe(true);
  });

  it('[G39] cannot be corrected so that their step would not have passed, nor with a blocked step', async () => {
    const { directory, tools, start, at } = await judged();
    const before = filesUnder(directory);
    const look = idOf(at, 'look');
    const verdict = idOf(at, 'judge', 'artifact');
    const refusals: readonly (readonly [Corrections, string])[] = [
      [[{ outputId: look, notesMarkdown: 'It is blue.' }], 'Notes must have EVIDENCE'],
      [[{ outputId: verdict, artifact: { kind: 'wr.gate_verdict' } }], 'step judge would not have been passed'],
      [[{ outputId: verdict, notesMarkdown: 'EVIDENCE' }], 'is of an output that is an artifact'],
      [[{ outputId: look, artifact: GATE }], 'is of an output that is notes'],
      [[{ outputId: start.nodeId, notesMarkdown: 'EVIDENCE' }], 'not an output that stands'],
      [
        [
          { outputId: look, notesMarkdown: 'EVIDENCE 1' },
          { outputId: look, notesMarkdown: 'EVIDENCE 2' },
        ],
        'twice',
      ],
      [[{ outputId: look }], 'either notesMarkdown or artifact'],
    ];
    for (const [corrections, why] of refusals) {
      const refused = errorOf(await tools.continue(correcting(at, corrections)));
      expect([refused.code, refused.message]).toEqual(['VALIDATION_ERROR', expect.stringContaining(why)]);
    }
    expect(filesUnder(directory)).toEqual(before);

    const good = [{ outputId: look, notesMarkdown: 'EVIDENCE: it is blue.' }];
    const asks = {
      reason: 'needs_user_choice',
      choice: 'irreversible_action',
      summary: 'Delete it, or keep it?',
    } as const;
    const call = correcting(at, good);
    const blocked = value(await tools.continue({ ...call, output: { ...call.output, needsFromUser: [asks] } }));
    expect(blocked).toMatchObject({ kind: 'blocked', blockers: [{ code: 'USER_ONLY_DEPENDENCY' }] });
    expect(idOf(value(await tools.continue({ stateToken: blocked.stateToken })), 'look')).toBe(look);
    const shown = value(await tools.continue(blocked.nextCall?.arguments as never));
    expect(shown.pending?.prompt).toContain('it is red');
  });

  it('[G40] a choice reserved for the person waits, is answered in words, and reaches the agent', async () => {
    const { directory, tools, at } = await judged();
    expect(at.pending?.prompt).toContain('irreversible_action');
    const call = filledIn(at);
    const need = (choice: 'irreversible_action' | 'scope_boundary', summary: string) =>
      ({ reason: 'needs_user_choice', choice, summary }) as const;
    const needsFromUser = [need('irreversible_action', 'Delete it, or keep it?'), need('scope_boundary', 'How much?')];
    const blocked = value(await tools.continue({ ...call, output: { ...call.output, needsFromUser } }));
    expect(blocked.blockers.length).toBe(1);
    expect(blocked.warnings).toEqual([]);
    const desk = openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) });
    const [waits, ...others] = value(desk.waiting());
    expect([waits?.gap.reason.detail, waits?.gap.summary, others]).toEqual([
      'needs_user_choice',
      expect.stringContaining('Delete it, or keep it?'),
      [],
    ]);
    const { gapId } = waits?.gap ?? {};
    value(await desk.answer(at.sessionId, gapId as never, { kind: 'answered', value: 'Keep it.' }));
    const shown = value(await tools.continue(blocked.nextCall?.arguments as never));
    expect(shown.warnings.map(({ message }) => message).join()).toContain('Keep it.');
    expect(value(await tools.continue(filledIn(shown))).pending?.stepId).toBe('tell');
  });
});
