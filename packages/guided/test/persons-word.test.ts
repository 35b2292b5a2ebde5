import type { JsonObject } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { defaultPreferences, modePresets, projectGaps } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { type GuidedTools, openGuidedDesk, type StepAnswer } from '../src/index.ts';
import { needFromUser } from '../src/tools/tool-inputs.ts';
import { filledIn } from './support/agent-calls.ts';
import { dataDirectory, errorOf, eventsOf, value, writeWorkflow } from './support/guided-walk.ts';
import { openTools } from './support/open-tools.ts';
import { ports } from './support/ports.ts';

const REASONS = needFromUser.shape.reason.options;
const step = (id: string, more: JsonObject = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...more });

const workflow = {
  id: 'project.x',
  name: 'X',
  description: 'Asks, then acts.',
  version: '1.0.0',
  steps: [
    step('look'),
    step('act', { nonAssumableChoices: ['irreversible_action'] }),
    step('ship', { requireConfirmation: true }),
    step('end', { requireConfirmation: { kind: 'human_approval' } }),
  ],
};

function opened(mode: keyof typeof modePresets = 'guided') {
  const flows = dataDirectory();
  writeWorkflow(flows, 'x.json', workflow);
  const directory = dataDirectory();
  const options = { directories: [{ kind: 'project', directory: flows }], preferences: modePresets[mode] } as const;
  const desk = openGuidedDesk({ dataDirectory: directory, ports, rng: seededRng(1) });
  return { directory, desk, tools: openTools(directory, options), another: () => openTools(directory, options) };
}

/** Where `act` is pending, and where the run came from. */
async function atAct(tools: GuidedTools) {
  const look = value(await tools.start({ workflowId: 'project.x' }));
  return { look, act: value(await tools.continue(filledIn(look))) };
}

async function asking(tools: GuidedTools, at: StepAnswer, need: JsonObject): Promise<StepAnswer> {
  const call = filledIn(at);
  return value(await tools.continue({ ...call, output: { ...call.output, needsFromUser: [need] } } as never));
}

const again = async (tools: GuidedTools, { stateToken }: Pick<StepAnswer, 'stateToken'>) =>
  value(await tools.continue({ stateToken }));

/** Everything that an agent may try at a step that waits for the person, without the person. */
const tries: Readonly<Record<string, (on: Tried) => Promise<StepAnswer>>> = {
  'hands in the step without the question': async ({ tools, act }) =>
    value(await tools.continue(filledIn(await again(tools, act)))),
  'does so in another process': async ({ another, act }) => {
    const tools = another();
    return value(await tools.continue(filledIn(await again(tools, act))));
  },
  'asks something else instead': async ({ tools, act }) => {
    const choice = { reason: 'needs_user_choice', summary: 'Tabs or spaces?', choice: 'preference_tradeoff' };
    return asking(tools, await again(tools, act), choice);
  },
  'says that the person agreed': async ({ tools, act }) => {
    const call = filledIn(await again(tools, act), { approved: true, answer: 'approved' });
    return value(await tools.continue(call));
  },
  'goes on from a checkpoint': async ({ tools, act }) => {
    const { checkpointToken = '' } = await again(tools, act);
    const marked = value(await tools.checkpoint({ checkpointToken, notesMarkdown: 'Half way.' }));
    return value(await tools.continue(filledIn(await again(tools, marked))));
  },
  'goes back and takes another branch': async ({ tools, look }) => {
    const branch = value(await tools.continue(filledIn(await again(tools, look))));
    return value(await tools.continue(filledIn(branch)));
  },
};
type Tried = Awaited<ReturnType<typeof atAct>> & Pick<ReturnType<typeof opened>, 'tools' | 'another'>;

describe('a question to the person', () => {
  for (const [what, attempt] of Object.entries(tries)) {
    it(`[G47] stays open if an agent ${what}, until the person answers`, async () => {
      for (const reason of REASONS) {
        const { tools, another, desk } = opened();
        const { look, act } = await atAct(tools);
        const need = { reason, summary: 'May I delete the table?', choice: 'irreversible_action' };
        expect(await asking(tools, act, need)).toMatchObject({ kind: 'blocked' });
        const tried = await attempt({ tools, another, look, act });
        expect(tried).toMatchObject({ kind: 'blocked', blockers: [{ code: 'USER_ONLY_DEPENDENCY' }] });
        const waiting = value(desk.waiting());
        expect(waiting).toMatchObject([{ gap: { reason: { detail: reason } } }]);
        for (const { sessionId, gap } of waiting) value(await desk.answer(sessionId, gap.gapId, { kind: 'approved' }));
        const next = value(await tools.continue(filledIn(await again(tools, tried))));
        expect(next).toMatchObject({ kind: 'ok', pending: { stepId: 'ship' } });
      }
    });
  }

  it('[G47] is asked at every step that the user confirms in guided mode, each separately', async () => {
    const { tools, desk } = opened();
    const { act } = await atAct(tools);
    const ship = value(await tools.continue(filledIn(act)));
    expect(ship).toMatchObject({ pending: { stepId: 'ship' }, nextIntent: 'await_user_confirmation' });
    const allowed = { reason: 'needs_user_approval', summary: 'May I rename a file?' };
    expect(await asking(tools, ship, allowed)).toMatchObject({ kind: 'blocked' });
    const approve = async (pattern: RegExp) => {
      const found = value(desk.waiting()).find(({ gap }) => pattern.test(gap.summary));
      if (found === undefined) throw new Error('nothing waits');
      value(await desk.answer(found.sessionId, found.gap.gapId, { kind: 'approved' }));
    };
    await approve(/rename/);
    expect(value(await tools.continue(filledIn(await again(tools, ship))))).toMatchObject({ kind: 'blocked' });
    await approve(/needs the approval/);
    const end = value(await tools.continue(filledIn(await again(tools, ship))));
    expect(end).toMatchObject({ kind: 'ok', pending: { stepId: 'end' } });
    expect(value(await tools.continue(filledIn(end)))).toMatchObject({ kind: 'blocked' });
  });

  it('[G47] is a gap that stays open in a mode that never stops', async () => {
    const { tools, directory } = opened('full_auto_never_stop');
    const { act } = await atAct(tools);
    const ship = await asking(tools, act, { reason: 'needs_user_approval', summary: 'May I?' });
    expect(ship).toMatchObject({ kind: 'ok', pending: { stepId: 'ship' } });
    const gaps = projectGaps(eventsOf(directory, ship.sessionId));
    expect(gaps.map(({ resolvedBy }) => resolvedBy)).toEqual([undefined]);
  });
});

describe('how far an agent goes', () => {
  const looser = [
    { autonomy: 'full_auto_never_stop' },
    { autonomy: 'full_auto_stop_on_user_deps' },
    { riskPolicy: 'aggressive' },
    { riskPolicy: 'balanced', autonomy: 'guided' },
  ] as const;

  it('[G48] is what the person set: an agent cannot loosen it, at the start or at a step', async () => {
    const { tools, directory } = opened();
    for (const preferences of looser) {
      const refused = errorOf(await tools.start({ workflowId: 'project.x', preferences }));
      expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('the person') });
    }
    const { act } = await atAct(tools);
    const before = eventsOf(directory, act.sessionId);
    for (const preferences of looser) {
      const refused = errorOf(await tools.continue({ ...filledIn(act), preferences }));
      expect(refused).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('the person') });
    }
    expect(eventsOf(directory, act.sessionId)).toEqual(before);
    expect(value(await tools.continue(filledIn(act)))).toMatchObject({ preferences: defaultPreferences });
  });

  it('[G48] can be tightened by an agent, and not loosened back', async () => {
    const { tools } = opened('full_auto_never_stop');
    const { act } = await atAct(tools);
    const strict = { autonomy: 'guided' } as const;
    const ship = value(await tools.continue({ ...filledIn(act), preferences: strict }));
    expect(ship).toMatchObject({ kind: 'ok', preferences: strict });
    const back = await tools.continue({ ...filledIn(ship), preferences: { autonomy: 'full_auto_never_stop' } });
    expect(errorOf(back).code).toBe('VALIDATION_ERROR');
  });

  it('[G48] is loosened by the person who starts the session', async () => {
    const { tools } = opened();
    const preferences = { autonomy: 'full_auto_never_stop', riskPolicy: 'balanced' } as const;
    const started = value(await tools.start({ workflowId: 'project.x', preferences }, 'person'));
    expect(started.preferences).toEqual(preferences);
  });
});
