import { describe, expect, it } from 'vitest';
import { openGuidedSessions } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, filesUnder, value, walk, writeWorkflow } from './support/guided-walk.ts';
import { machineOf, openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const finding = (n: number) => ({ severity: 'major', summary: `src/a.ts:${n} reads a value after it was freed` });
const verdict = (count: number) => ({
  kind: 'wr.review_verdict',
  verdict: 'blocking',
  confidence: 'high',
  findings: Array.from({ length: count }, (_, n) => finding(n)),
  summary: 'It must not be merged.',
});

const workflow = {
  id: 'project.review',
  name: 'Review',
  description: 'Reviews, then reports.',
  version: '1.0.0',
  steps: [
    {
      id: 'review',
      title: 'Review',
      prompt: 'Review.',
      outputContract: { contractRef: 'wr.contracts.review_verdict' },
    },
    { id: 'report', title: 'Report', prompt: 'Report what was found.' },
  ],
};

async function reviewed(count: number) {
  const [flows, directory] = [dataDirectory(), dataDirectory()];
  writeWorkflow(flows, 'review.json', workflow);
  const directories = [{ kind: 'project', directory: flows }] as const;
  const tools = openTools(directory, { directories });
  const { stateToken, ackToken, sessionId } = value(await tools.start({ workflowId: 'project.review' }));
  const report = value(await tools.continue({ stateToken, ackToken, output: { artifacts: [verdict(count)] } }));
  return { directory, directories, tools, report, sessionId };
}

describe('an artifact', () => {
  it('[G103] of a step without notes is in the recap, and whole by its id', async () => {
    const { tools, report } = await reviewed(3);
    expect(report.outputs).toBeUndefined();
    const { stateToken } = report;
    const again = value(await tools.continue({ stateToken }));
    expect(again.pending?.prompt).toContain('src/a.ts:2 reads a value after it was freed');
    const outputId = again.outputs?.[0]?.outputId ?? '';
    const whole = value(await tools.continue({ stateToken, outputIds: [outputId] }));
    expect(whole.outputs).toMatchObject([{ outputId, stepInstanceKey: 'review', content: verdict(3) }]);
  });

  it('[G103] that is too large for the recap is cut there, and the recap says how to read all of it', async () => {
    const { tools, report } = await reviewed(400);
    const { stateToken } = report;
    const { pending, outputs } = value(await tools.continue({ stateToken }));
    expect(pending?.prompt).toContain('[TRUNCATED]');
    expect(pending?.prompt).toContain('outputIds.]');
    const whole = value(await tools.continue({ stateToken, outputIds: [outputs?.[0]?.outputId ?? ''] }));
    expect(whole.outputs?.[0]?.content).toEqual(verdict(400));
  });

  it('[G103] is told by resume_session, and by the view of the session', async () => {
    const { directory, directories, tools, sessionId } = await reviewed(2);
    const { candidates } = value(await tools.resume({}));
    expect(candidates[0]?.artifacts?.join('')).toContain('src/a.ts:1 reads a value');
    const shown = value(
      await openGuidedSessions({ dataDirectory: directory, ports, directories, machine: machineOf(1) }).show(sessionId),
    );
    const texts = shown.runs[0]?.nodes.flatMap(node => node.artifacts ?? []).map(({ text }) => text);
    expect(texts?.join('')).toContain('src/a.ts:1 reads a value');
  });

  it('[G103] is asked for only with a rehydrate and by an id that is on the way; nothing is written', async () => {
    const { directory, tools, report } = await reviewed(1);
    const { stateToken, ackToken } = report;
    const before = filesUnder(directory);
    const refusals = [
      await tools.continue({ stateToken, outputIds: ['019b8d62-0000-7000-8000-000000000000'] }),
      await tools.continue({ stateToken, ackToken, outputIds: ['x'], output: { notesMarkdown: 'Done.' } }),
    ];
    for (const refusal of refusals) {
      expect(errorOf(refusal)).toMatchObject({ code: 'VALIDATION_ERROR', details: { field: 'outputIds' } });
    }
    expect(filesUnder(directory)).toEqual(before);
  });
});

describe('an agent that loses its whole chat', () => {
  const context = { slices: ['one', 'two'] };
  const BUNDLED = ['wr.bug-investigation', 'wr.code-review', 'wr.feature-development', 'wr.research'] as const;
  const preferences = { autonomy: 'full_auto_never_stop' } as const;

  it.each(BUNDLED)('[G104] before every step of %s finishes with the same outputs', async workflowId => {
    const told = async (tools: ReturnType<typeof openTools>, stateToken: string) => {
      const { outputs = [] } = value(await tools.continue({ stateToken }));
      const outputIds = outputs.map(({ outputId }) => outputId);
      const whole = value(await tools.continue({ stateToken, outputIds })).outputs ?? [];
      return whole.map(({ stepInstanceKey, outputChannel, content }) => ({ stepInstanceKey, outputChannel, content }));
    };
    const kept = openTools(dataDirectory());
    const { answers, last } = await walk(kept, value(await kept.start({ workflowId, context, preferences }, 'person')));
    const expected = await told(kept, last.stateToken);

    const directory = dataDirectory();
    const first = openTools(directory);
    await first.start({ workflowId, context, preferences }, 'person');
    let lost = '';
    for (let step = 1; step < answers.length; step++) {
      const fresh = openTools(directory);
      const [found] = value(await fresh.resume({})).candidates;
      const at = value(await fresh.continue(found?.nextCall.arguments as never));
      expect(at.pending?.stepInstanceKey).toBe(answers[step - 1]?.pending?.stepInstanceKey);
      lost = value(await fresh.continue(filledIn(at))).stateToken;
    }
    expect(await told(openTools(directory), lost)).toEqual(expected);
  });
});
