import { scenarioChoice } from '@signalbox/app/fleet-demo';
import type { AgentId, WireFleetAgent } from '@signalbox/model';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, openLivePage } from './live-page.ts';

// One browser, one server, whose agents play a scenario and wait for a person. Time passes only when a test advances it, so that nothing
// is due by itself. Each test waits for what the page says.

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  const choice = scenarioChoice('david@claude', 10);
  if (!choice.ok) throw new Error(choice.error.message);
  const config = { fleet: { ticks: { mode: 'manual' }, calibrationMode: true } };
  at = await openLivePage(undefined, { scenario: choice.value, config });
  ({ live, page, complaints } = at);
});
afterAll(() => at?.close());

const open = (place: string) => page.goto(`${live.url}${place}#token=${live.token}`);
const agents = async () => given(await live.client.fleetAgents()).agents;
const agentOf = async (name: string): Promise<WireFleetAgent> => {
  const found = (await agents()).find(agent => agent.name === name);
  if (found === undefined) throw new Error(`there is no agent ${name}`);
  return found;
};
const idOf = async (name: string): Promise<AgentId> => (await agentOf(name)).id;
const decisionsOf = async (agent: string) =>
  given(await live.client.queue()).decisions.flatMap(one =>
    one.from === 'agent' && one.decision.agentName === agent ? [one.decision] : [],
  );
/** The line of an agent in the list. */
const line = (name: string) =>
  page
    .getByRole('list', { name: 'Agents', exact: true })
    .locator('li', { has: page.locator('strong', { hasText: name }) });

describe('the fleet', () => {
  it('[K120] tells apart at once who works and who waits for the person, those who wait first, live', async () => {
    await open('/fleet');
    await line('backend').getByText('waits for you', { exact: true }).waitFor();
    await line('backend')
      .getByText(/1 decision/)
      .waitFor();
    expect(await line('backend').locator('.lamp-waiting').count()).toBe(1);
    const order = await page.getByRole('list', { name: 'Agents', exact: true }).locator('strong').allTextContents();
    const standings = (await agents()).map(({ name, standing }) => [name, standing] as const);
    const waiting = standings.filter(([, standing]) => standing === 'waiting_for_you').map(([name]) => name);
    expect(order.slice(0, waiting.length).toSorted()).toEqual(waiting.toSorted());
    // In the navigation, as well.
    await page.getByRole('navigation', { name: 'Pages' }).getByText('Fleet').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('[K121] names what an agent is blocked on, and its health', async () => {
    await open(`/fleet?agent=${await idOf('frontend')}`);
    const shown = page.getByRole('article', { name: 'frontend', exact: true });
    await shown.getByText('no faults').waitFor();
    await shown.getByText(/cannot pause: a pause ends it and saves its session/).waitFor();
    await shown.getByRole('button', { name: 'Pause' }).click();
    await shown.getByText('It was paused.').waitFor();
    await line('frontend').getByText('blocked', { exact: true }).waitFor();
    await shown.getByRole('button', { name: 'Resume' }).click();
    await shown.getByRole('button', { name: 'Pause' }).waitFor();
    expect((await agentOf('frontend')).lives).toBe(2);
  });

  it('[K190] starts an agent from a form, and says what is wrong with it', async () => {
    await open('/fleet');
    await page.getByText('Start an agent', { exact: true }).click();
    const form = page.getByRole('form', { name: 'Start an agent' });
    const start = form.getByRole('button', { name: 'Start', exact: true });
    await form.getByLabel('Name').fill('painter');
    await form.getByLabel('Plugin').selectOption('builtin');
    await form.getByLabel('Role').fill('Painter');
    await form.getByLabel('Workstream').fill('walls');
    await form.getByLabel('Brief').fill('Paint the <b>wall</b>.');
    await form.getByLabel('Directory').fill('../outside');
    await form.getByText('Directory: A path below the project').waitFor();
    expect(await start.isDisabled()).toBe(true);
    await form.getByLabel('Directory').fill('nowhere');
    expect(await faultsOf(page)).toEqual([]);
    await start.click();
    await line('painter').getByText('failed', { exact: true }).waitFor();
    const shown = await agentOf('painter');
    expect(shown).toMatchObject({ pluginName: 'builtin', role: 'Painter', workstream: 'walls' });
    expect(shown.because).toContain('There is no directory');
    await line('painter').click();
    await page.getByRole('article', { name: 'painter' }).getByText('There is no directory').first().waitFor();
    expect(await page.locator('b', { hasText: 'wall' }).count()).toBe(0);
  });

  it('[K122] shows changes of a brief that an agent does not know yet, until it is restarted', async () => {
    const frontend = await idOf('frontend');
    await open(`/fleet?agent=${frontend}`);
    const shown = page.getByRole('article', { name: 'frontend', exact: true });
    await shown.getByRole('button', { name: 'Restart', exact: true }).waitFor();
    given(await live.client.changeBrief(frontend, { description: 'Draw it with <b>care</b>' }));
    await line('frontend').getByText('brief update pending').waitFor();
    await shown.getByText(/works with its earlier brief until it is restarted: description/).waitFor();
    await shown.getByText('Show the changes').click();
    await shown.getByText('<b>care</b>').first().waitFor();
    await shown.getByRole('button', { name: 'Restart to apply' }).click();
    await line('frontend').getByText('brief update pending').waitFor({ state: 'detached' });
    expect((await agentOf('frontend')).handle.pendingBriefChanges).toBe(undefined);
  });

  it('[K123] the queue has the decisions of agents with severity, what they affect and their badges, and answers them', async () => {
    const [asked] = await decisionsOf('backend');
    if (asked === undefined) throw new Error('backend asks something');
    await open('/queue');
    const queue = page.getByRole('region', { name: 'Decisions of the fleet' });
    const question = queue.getByRole('article', { name: /^backend: / });
    await question.getByText(asked.severity, { exact: true }).waitFor();
    await question.getByText(new RegExp(`affects: ${asked.blastRadius}`)).waitFor();
    const backend = await idOf('backend');
    given(await live.client.brake({ scope: { type: 'agent', agentId: backend }, reason: 'Look', behavior: 'pause' }));
    await question.getByText('suspended', { exact: true }).waitFor();
    given(await live.client.releaseBrake());
    await question.getByText('suspended', { exact: true }).waitFor({ state: 'detached' });
    expect(await faultsOf(page)).toEqual([]);
    await question.getByRole('textbox').fill('It is safe');
    const yes = asked.subject.subtype === 'option' ? asked.subject.options[0]?.label : 'Approve';
    await question
      .getByRole('button', { name: yes ?? '', exact: asked.subject.subtype !== 'option' })
      .first()
      .click();
    await expect.poll(async () => (await decisionsOf('backend')).some(({ id }) => id === asked.id)).toBe(false);
    const log = given(await live.client.fleetLog({ kind: 'decision', limit: 500 }));
    const kept = log.entries.find(({ id }) => id === asked.id)?.value;
    expect(kept).toMatchObject({ status: 'answered', resolution: { rationale: 'It is safe' } });
    expect(complaints).toEqual([]);
  });
});

describe('the controls', () => {
  it('[K124] show the control mode, and change it', async () => {
    await open('/controls');
    await page.getByRole('radio', { name: 'Orchestrator' }).and(page.locator(':checked')).waitFor();
    await page.getByRole('radio', { name: 'Adaptive' }).click();
    await expect.poll(async () => given(await live.client.controlMode()).mode).toBe('adaptive');
    // A change that somebody else makes arrives by itself.
    given(await live.client.setControlMode('orchestrator'));
    await page.getByRole('radio', { name: 'Orchestrator' }).and(page.locator(':checked')).waitFor();
  });

  it('[K125] brake a workstream, prove when each agent fell silent, and release it', async () => {
    await open('/controls');
    const { workstream } = await agentOf('frontend');
    const form = page.getByRole('form', { name: 'Brake' });
    await form.getByLabel('Stop').selectOption(`workstream ${workstream}`);
    await form.getByLabel('Reason').fill('The port was wrong');
    await form.getByRole('button', { name: 'Brake' }).click();
    const brake = page.getByRole('region', { name: 'Brake: The port was wrong' });
    await brake
      .getByText(/workstream/)
      .first()
      .waitFor();
    const row = brake.getByRole('row', { name: /frontend/ });
    await row.getByText(/stopped|paused/).waitFor();
    await row.getByText(/^(\d+ m?s|was silent)$/).waitFor();
    const [engaged] = given(await live.client.brakes()).brakes.filter(({ released }) => released === undefined);
    expect(engaged?.action).toMatchObject({ reason: 'The port was wrong', scope: { type: 'workstream', workstream } });
    await open('/fleet');
    await page.getByText('A brake is engaged:').waitFor();
    await line('frontend').getByText('A brake holds it: The port was wrong').waitFor();
    await open('/controls');
    await brake.getByRole('button', { name: /^Release/ }).click();
    await brake.getByRole('button', { name: /^Release/ }).waitFor({ state: 'detached' });
    await page.getByText('Earlier brakes').click();
    await brake.getByText(/released by/).waitFor();
  });

  it('[K126] show trust with its history, beside what it would be, prove it, and simulate another profile', async () => {
    const backend = await idOf('backend');
    await open(`/controls?agent=${backend}`);
    const trust = page.getByRole('region', { name: 'Trust of backend' });
    const known = given(await live.client.trust(backend));
    expect(known.hypotheticalScore).not.toBe(known.score);
    await trust.getByText(`would be ${known.hypotheticalScore}`).waitFor();
    await trust.getByRole('img', { name: /^Trust over \d+ changes: now 50, would be/ }).waitFor();
    await trust.getByText('without calibration mode').waitFor();
    await trust
      .getByRole('cell', { name: /^human / })
      .first()
      .waitFor();
    await trust.getByRole('button', { name: 'Check against the log' }).click();
    await trust.getByText(/^Proved: \d+ changes? in \d+ facts lead to 50\.$/).waitFor();
    const simulator = page.getByRole('region', { name: 'Simulator for backend' });
    await simulator.getByRole('button', { name: 'conservative' }).click();
    await simulator.getByText(/^With conservative: \d+ instead of \d+\./).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  it('[K127] show the decision log, and let manual time pass', async () => {
    await open('/controls');
    const log = page.getByRole('region', { name: 'Decision log' }).last();
    await log.getByText('answered').first().waitFor();
    await log.getByText('raised').first().waitFor();
    const { current } = given(await live.client.ticks());
    await page.getByRole('button', { name: 'Advance by 10', exact: true }).click();
    await page.getByText(`tick ${current + 10}`).waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K129] a killed agent is dead, its decisions stay in the queue, marked, and a new start takes them back', async () => {
    const frontend = await idOf('frontend');
    await open(`/fleet?agent=${frontend}`);
    await line('frontend').getByText('waits for you', { exact: true }).waitFor();
    const shown = page.getByRole('article', { name: 'frontend', exact: true });
    await shown.getByRole('button', { name: 'Kill…' }).click();
    await page.getByLabel("I understand this can't be undone").check();
    await page.getByRole('dialog').getByRole('button', { name: 'Kill', exact: true }).click();
    await line('frontend').getByText('dead', { exact: true }).waitFor();
    expect(await line('frontend').locator('.lamp-skipped').count()).toBe(1);
    await open('/queue');
    const queue = page.getByRole('region', { name: 'Decisions of the fleet' });
    await queue
      .getByRole('article', { name: /^frontend: / })
      .getByText('agent killed')
      .first()
      .waitFor();
    await open(`/fleet?agent=${frontend}`);
    await shown.getByRole('button', { name: 'Restart', exact: true }).click();
    await line('frontend').getByText('waits for you', { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K128] coherence issues are settled, and artifacts of agents approved and rejected, beside the fleet', async () => {
    // Answers everything, so that the scenario comes to its end.
    const answerAll = async () => {
      for (const { decision } of given(await live.client.queue()).decisions.flatMap(one =>
        one.from === 'agent' ? [one] : [],
      )) {
        const option = decision.subject.subtype === 'option' ? decision.subject.options[0]?.id : undefined;
        await live.client.resolveDecision(decision.id, {
          resolution: {
            resolutionType: option === undefined ? 'approve' : 'choose_option',
            ...(option !== undefined && { chosenOptionId: option }),
            rationale: 'yes',
            actionKind: 'review',
          },
        });
      }
      const { issues } = given(await live.client.coherence());
      const { artifacts } = given(await live.client.knownArtifacts());
      return issues.length > 0 && artifacts.length > 0;
    };
    await expect.poll(answerAll, { timeout: 60_000, interval: 200 }).toBe(true);
    await open('/fleet');
    const [issue] = given(await live.client.coherence()).issues;
    await page.getByRole('button', { name: `Dismiss ${issue?.title}` }).click();
    await page.getByRole('button', { name: `Dismiss ${issue?.title}` }).waitFor({ state: 'detached' });
    const artifacts = page.getByRole('region', { name: 'Artifacts of agents' }).last();
    const [made] = given(await live.client.knownArtifacts()).artifacts;
    await artifacts
      .getByRole('button', { name: `Reject ${made?.name}` })
      .first()
      .click();
    await expect
      .poll(
        async () =>
          given(await live.client.knownArtifacts()).artifacts.filter(({ status }) => status === 'rejected').length,
      )
      .toBe(1);
    expect(await faultsOf(page)).toEqual([]);
  });
});
