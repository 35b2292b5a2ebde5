import { seededRng } from '@signalbox/testkit';
import { modePresets, projectGaps } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { openGuidedDesk, openGuidedSessions } from '../src/index.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, filesUnder, value, writeWorkflow } from './support/guided-walk.ts';
import { machineOf, openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const workflow = {
  id: 'project.ship',
  name: 'Ship',
  description: 'Prepares, then ships.',
  version: '1.0.0',
  steps: [
    { id: 'prepare', title: 'Prepare', prompt: 'Prepare.' },
    {
      id: 'ship',
      title: 'Ship it',
      prompt: 'Say what you would ship.',
      requireConfirmation: { kind: 'human_approval' },
    },
    { id: 'report', title: 'Report', prompt: 'Report.' },
  ],
};

async function atShip(mode: keyof typeof modePresets = 'guided') {
  const [flows, directory] = [dataDirectory(), dataDirectory()];
  writeWorkflow(flows, 'ship.json', workflow);
  const directories = [{ kind: 'project', directory: flows }] as const;
  const tools = openTools(directory, { directories, preferences: modePresets[mode] });
  const desk = openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) });
  const start = value(await tools.start({ workflowId: 'project.ship' }));
  const ship = value(await tools.continue(filledIn(start)));
  const { runs } = openGuidedSessions({ dataDirectory: directory, ports, directories, machine: machineOf(1) });
  return { directory, directories, tools, desk, start, ship, runs };
}

describe('a step that needs a person', () => {
  it('[G105] has its decision opened by the advance that leads to it, and the agent knows who answers it where', async () => {
    const { directory, tools, desk, ship } = await atShip();
    const [waiting, ...more] = value(desk.waiting());
    const gapId = waiting?.gap.gapId;
    expect([waiting?.gap.nodeId, more]).toEqual([ship.nodeId, []]);
    expect(ship).toMatchObject({
      nextIntent: 'await_user_confirmation',
      decision: {
        decisionId: gapId,
        status: 'open',
        answerWith: `signalbox approve ${gapId}`,
        consolePath: `/queue?decision=${gapId}`,
      },
    });
    const before = filesUnder(directory);
    expect(value(await tools.continue({ stateToken: ship.stateToken })).decision).toEqual(ship.decision);
    expect(filesUnder(directory)).toEqual(before);
    value(await tools.continue(filledIn(ship)));
    expect(value(desk.waiting()).map(({ gap }) => gap.gapId)).toEqual([gapId]);
  });

  it('[G105] passes with the first attempt if the person has answered by then; a first step opens its own', async () => {
    const { tools, desk, ship } = await atShip();
    const [waiting] = value(desk.waiting());
    if (waiting === undefined) throw new Error('nothing waits');
    value(await desk.answer(waiting.sessionId, waiting.gap.gapId, { kind: 'approved', shown: waiting.shown }));
    const fresh = value(await tools.continue({ stateToken: ship.stateToken }));
    expect(fresh).toMatchObject({
      nextIntent: 'perform_pending_then_continue',
      decision: { status: 'approved' },
    });
    expect(value(await tools.continue(filledIn(ship)))).toMatchObject({ kind: 'ok', pending: { stepId: 'report' } });
  });

  it('[G105] opens none in a mode that never stops, and none for a confirmation outside guided mode', async () => {
    const { desk, ship } = await atShip('full_auto_never_stop');
    expect(value(desk.waiting())).toEqual([]);
    expect(ship.decision).toBeUndefined();
  });

  it('[G106] shows title, prompt and proposal, and an answer to another proposal is void', async () => {
    const { directory, tools, desk, ship, runs, start } = await atShip();
    const [bare] = value(desk.waiting());
    expect(bare?.question).toMatchObject({
      step: { title: 'Ship it', prompt: expect.stringContaining('Say what you would ship.') },
      proposed: null,
    });
    const artifacts = [{ kind: 'release', tag: 'v2' }];
    await tools.continue({ ...filledIn(ship), output: { notesMarkdown: 'Release v2 to everybody.', artifacts } });
    const [asked] = value(desk.waiting());
    expect(asked?.question.proposed).toEqual({
      notes: 'Release v2 to everybody.',
      artifacts: ['{"kind":"release","tag":"v2"}'],
    });
    const [decision] = value(runs.decisions());
    expect(decision?.decision).toMatchObject({
      proposalHash: asked?.shown,
      proposal: { step: 'Ship it', notes: 'Release v2 to everybody.', artifacts: '{"kind":"release","tag":"v2"}' },
    });
    const gapId = asked?.gap.gapId;
    if (gapId === undefined || bare === undefined || asked === undefined) throw new Error('nothing waits');
    const stale = await desk.answer(start.sessionId, gapId, { kind: 'approved', shown: bare.shown });
    expect(errorOf(stale).code).toBe('decision/stale-proposal');
    const fresh = value(await tools.continue({ stateToken: ship.stateToken }));
    await tools.continue({ ...filledIn(fresh), output: { notesMarkdown: 'Release v3 instead.' } });
    const late = await desk.answer(start.sessionId, gapId, { kind: 'approved', shown: asked.shown });
    expect(errorOf(late).code).toBe('decision/stale-proposal');
    const [now] = value(desk.waiting());
    value(await desk.answer(start.sessionId, gapId, { kind: 'approved', shown: now?.shown }));
    const open = projectGaps(eventsOf(directory, start.sessionId)).filter(gap => gap.resolvedBy === undefined);
    expect(open).toEqual([]);
  });
});
