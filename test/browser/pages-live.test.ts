import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { guidedSchemas, type StepAnswer } from '@signalbox/app/guided';
import type { RunId, RunSummary } from '@signalbox/model';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { filledIn, NOTES } from '../../packages/guided/test/support/agent-calls.ts';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, LOST, openLivePage, untilSummary } from './live-page.ts';

// One browser, one server. Each test waits for what the server or the page says, never for a time.

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  at = await openLivePage(LOST);
  ({ live, page, complaints } = at);
});
afterAll(() => at?.close());

const open = (place: string) => page.goto(`${live.url}${place}#token=${live.token}`);
const isShown = (words: string | RegExp) => page.getByText(words).first().waitFor();

const until = (run: RunId, isSo: (summary: RunSummary) => boolean) => untilSummary(live.client, run, isSo);
const asks = ({ openDecisions }: RunSummary) => openDecisions > 0;
const has =
  (status: string) =>
  ({ record }: RunSummary) =>
    record.status === status;

async function start(name: string, input: object, more: object = {}): Promise<RunId> {
  const body = { file: live.plan(name), input, ...more } as Parameters<typeof live.client.start>[0];
  return given(await live.client.start(body)).id;
}

/** Says yes to what a run asks, once it asks. */
async function goOn(run: RunId): Promise<void> {
  await until(run, asks);
  const [asked] = given(await live.client.decisions({ run })).approvals;
  if (asked === undefined) throw new Error('nothing is asked');
  given(await live.client.resolve(asked.approvalId, { status: 'approved' }));
}

describe('empty pages', () => {
  it('[K68] say what would be there, and how it gets there', async () => {
    const words = {
      '/': 'No runs yet',
      '/queue': 'When an agent needs your approval',
      '/runs': 'No runs yet',
      '/failures': 'Failed runs appear here',
      '/artifacts': 'Artifacts that plans and agents make for you appear here.',
      '/workflows': 'No sessions yet',
      '/start': 'None yet: plans that you start appear here',
      '/settings': 'No users yet',
      '/developer': 'Choose a run to see',
    };
    for (const [place, told] of Object.entries(words)) {
      await open(place);
      await isShown(told);
    }
    expect(complaints).toEqual([]);
  });

  it('[K68] show the server’s error, and what to do next', async () => {
    const error = {
      code: 'command/unexpected',
      message: 'The disk is on fire.',
      retry: { kind: 'not_retryable' },
      suggestion: 'Put it out.',
    };
    const fails = /\/api\/(artifacts|plans|settings|workflows)(\?|$)/;
    await page.route(fails, route => route.fulfill({ status: 500, json: error }));
    for (const place of ['/artifacts', '/start', '/settings', '/workflows']) {
      await open(place);
      const told = page.getByRole('alert').filter({ hasText: 'The disk is on fire.' });
      await told.getByText('Put it out.').waitFor();
    }
    await page.unroute(fails);
  });
});

describe('artifacts', () => {
  it('[K58] progress that is updated ten times shows the latest, and each earlier version can be viewed', async () => {
    const run = await start('parts', { parts: 10 });
    await goOn(run);
    await open('/artifacts');
    await page.getByRole('button', { name: /^Parts/ }).click();
    const shown = page.getByRole('article', { name: 'Parts', exact: true });
    await shown.getByText('1 of 10 parts').waitFor();
    for (let part = 2; part <= 10; part += 1) {
      await goOn(run);
      await shown.getByText(`${part} of 10 parts`).waitFor();
    }
    await until(run, has('completed'));
    await expect.poll(() => shown.getByRole('progressbar').getAttribute('value')).toBe('10');
    const versions = shown.getByLabel('Version of Parts');
    await versions.locator('option').nth(9).waitFor({ state: 'attached' });
    await versions.selectOption({ index: 6 });
    await shown.getByText('4 of 10 parts').waitFor();
    await versions.selectOption({ index: 0 });
    await shown.getByText('10 of 10 parts').waitFor();
  });

  it('[K58] without a key each is stored, and a picture from a data URL is drawn', async () => {
    await open('/artifacts?kind=markdown');
    const names = page.locator('.artifact-list .font-medium');
    await names.nth(9).waitFor();
    await expect
      .poll(() => names.allTextContents())
      .toEqual(Array.from({ length: 10 }, (_, index) => `Part ${10 - index}`));
    await page.getByLabel('Kind').selectOption('image');
    const picture = page.getByRole('img', { name: 'One dot' });
    await picture.and(page.locator('canvas[width="1"]')).waitFor();
    const alpha = await page.evaluate<number>(
      `document.querySelector('canvas.picture').getContext('2d').getImageData(0, 0, 1, 1).data[3]`,
    );
    expect(alpha).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
  });

  it('[K60] text of agents is never rendered as markup, wherever it is shown', async () => {
    const evil =
      '<img src=x onerror="document.title=1"><svg onload="document.title=2"></svg><script>document.title=3</script>';
    const run = await start(
      'parts',
      { parts: 1, words: `Look: ${evil} [go](javascript:document.title=4) ![x](http://127.0.0.1:1/x.png)` },
      {
        name: `<b>bold</b> ${evil}`.slice(0, 200),
        tags: ['<i>tag</i>'],
      },
    );
    await goOn(run);
    await until(run, has('completed'));
    await open('/runs');
    await page.locator('.runline .tag').getByText('<i>tag</i>').waitFor();
    await open('/artifacts?q=Part');
    const prose = page.locator('.prose').first();
    await prose.waitFor();
    expect(await prose.locator('img, svg, script, [href^="javascript"]').count()).toBe(0);
    await expect.poll(() => prose.innerText()).toContain('<script>');
    await open('/');
    await page.locator('.runline strong').getByText('<b>bold</b>').first().waitFor();
    await expect.poll(() => page.title()).toBe('Briefing · Signalbox');
    expect(complaints).toEqual([]);
  });
});

describe('lists of runs', () => {
  it('[K56] are filtered by tag, plan, project and days, in the address, and show the model usage', async () => {
    const run = await start('release', { project: live.project, checks: 1 }, { tags: ['narrow'] });
    await until(run, asks);
    await open('/runs');
    await page.getByLabel('Tag').selectOption('narrow');
    await page.waitForURL(/tag=narrow/);
    const lines = page.locator('.runline');
    await expect.poll(() => lines.count()).toBe(1);
    await lines.first().locator('.runline-used').getByText('tok').waitFor();
    await page.getByLabel('Tag').selectOption('');
    await page.getByLabel('Plan').selectOption({ label: 'parts.tsx' });
    await page.waitForURL(/plan=[^&]*parts\.tsx/);
    await expect.poll(() => lines.count()).toBe(2);
    await page.getByLabel('Start time').selectOption('between');
    await page.getByLabel('To day').fill('2001-01-01');
    await page.waitForURL(/to=2001-01-01/);
    await page.getByRole('link', { name: /^Show all/ }).click();
    await page.getByLabel('Project').waitFor();
    await expect.poll(() => new URL(page.url()).search).toBe('');
  });

  it('[K57] failures are shown over time, and the person sets how many in a row make a streak', async () => {
    live.break();
    const runs = [
      await start('deliver', { broken: live.broken, parcel: 1 }),
      await start('deliver', { broken: live.broken, parcel: 2 }),
    ];
    await Promise.all(runs.map(run => until(run, has('failed'))));
    await open('/failures');
    await page.getByRole('img', { name: /2 of \d+ failed in the last 24 hours/ }).waitFor();
    await expect.poll(() => page.getByText('times in a row.').count()).toBe(0);
    await page.getByLabel('Flag plans after').fill('2');
    await isShown('failed 2 times in a row.');
    await page.getByRole('button', { name: '7 days' }).click();
    await page.getByRole('img', { name: /2 of \d+ failed in the last 7 days/ }).waitFor();
    await open('/');
    await isShown('failed 2 times in a row');
    live.mend();
    expect(complaints).toEqual([]);
  });
});

describe('guided workflows', () => {
  it('[K59] the graph of a session grows in the open page while an agent walks it over MCP', async () => {
    const agent = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    const bot = given(await live.client.addUser('bot', { role: 'agent' }));
    onTestFinished(async () => void (await live.client.removeUser('bot')));
    const requestInit = { headers: { authorization: `Bearer ${bot.token}` } };
    await agent.connect(new StreamableHTTPClientTransport(new URL('/mcp/agent', live.url), { requestInit }));
    const call = async (name: string, args: object): Promise<StepAnswer> => {
      const { structuredContent } = await agent.callTool({ name, arguments: { ...args } });
      return guidedSchemas.continue.answer.parse(structuredContent);
    };
    let answer = await call('start_workflow', { workflowId: 'wr.bug-investigation' });
    await open('/workflows');
    await page.getByRole('button', { name: /in progress/ }).click();
    const places = page.locator('.react-flow__node');
    await places.first().waitFor();
    await expect.poll(() => places.count()).toBe(1);
    const here = page.getByRole('region', { name: 'This place' });
    for (let steps = 1; steps <= 4; steps += 1) {
      answer = await call('continue_workflow', filledIn(answer));
      await places.nth(steps).waitFor();
      await here.getByText(answer.pending?.stepInstanceKey ?? '', { exact: true }).waitFor();
      await here.getByText('current').waitFor();
      await expect.poll(() => places.count()).toBe(steps + 1);
    }
    await here.locator('.prose').getByText('the second run fails').waitFor();
    // Looking back at a place stays there while the agent goes on.
    await places.first().click();
    await here.getByText('passed').waitFor();
    answer = await call('continue_workflow', filledIn(answer));
    await places.nth(5).waitFor();
    await expect.poll(() => here.getByText('passed').isVisible()).toBe(true);
    await page.getByLabel('as a list').check();
    await expect.poll(() => page.locator('.steps > li').count()).toBe(6);
    // A refused answer is a blocker, shown at the place that it blocks.
    const blocked = await call('continue_workflow', {
      ...filledIn(answer),
      output: { notesMarkdown: 'too short' },
    });
    expect(blocked.kind).toBe('blocked');
    await page.locator('.steps > li').last().getByText('blocked', { exact: true }).waitFor();
    await page.locator('.steps .errorbox').first().waitFor();
    await agent.close();
    expect(complaints).toEqual([]);
  });

  it('[K70] a workflow is started from its page, and waits there for an agent', async () => {
    await open('/workflows?workflow=wr.code-review');
    const form = page.getByRole('form', { name: 'Start wr.code-review' });
    await form.getByLabel('Working folder').fill('not a path');
    await form.getByRole('button', { name: 'Start' }).click();
    await form.getByText('Could not start the session').waitFor();
    await form.getByLabel('Working folder').fill(live.project);
    await form.getByRole('button', { name: 'Start' }).click();
    await page.waitForURL(/session=/);
    await page.locator('.react-flow__node').first().waitFor();
    const session = new URL(page.url()).searchParams.get('session');
    const { candidates } = given(await live.guided.resume({ workspacePath: live.project }));
    expect(candidates.map(({ sessionId }) => String(sessionId))).toContain(session);
    expect(complaints).toEqual([]);
  });

  it('[K67] a guided run is among the runs and its questions are in the queue, and both link to its session', async () => {
    const started = given(await live.guided.start({ workflowId: 'wr.research' }));
    const needsFromUser = [{ reason: 'needs_user_account_access' as const, summary: 'May I see the archive?' }];
    const { stateToken, ackToken = '', sessionId } = started;
    given(await live.guided.continue({ stateToken, ackToken, output: { notesMarkdown: NOTES, needsFromUser } }));
    await open('/runs?kind=guided');
    await page.locator('.runline').filter({ hasText: 'Research' }).click();
    await page.waitForURL(new RegExp(`session=${sessionId}`));
    const { approvals } = given(await live.client.decisions({ kind: 'guided' }));
    // The step asks for a confirmation of its own.
    const own = approvals.filter(one => one.sessionId === sessionId);
    const asked = own.find(one => JSON.stringify(one).includes('May I see the archive?'));
    await open(`/queue?decision=${asked?.approvalId}`);
    const desk = page.getByRole('article');
    await desk.getByText('May I see the archive?').first().waitFor();
    await desk.getByRole('link', { name: 'Research' }).click();
    await page.waitForURL(new RegExp(`session=${sessionId}`));
    const gap = page.getByRole('region', { name: 'May I see the archive?' });
    await gap.getByLabel('Your answer').waitFor();
    // An answer in the queue also counts in the session.
    await page.goBack();
    await desk.getByRole('textbox').first().fill('yes, by the east door');
    await desk.getByRole('button', { name: /^(Answer|Send|Approve)/ }).click();
    await desk.filter({ hasText: 'May I see the archive?' }).waitFor({ state: 'detached' });
    await open(`/workflows?session=${sessionId}`);
    await page.getByText('1 answered').click();
    await gap.getByText('answered: yes, by the east door').waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K61] the source, compiled and pinned forms of a workflow are shown', async () => {
    await page.getByRole('link', { name: 'pinned version' }).first().click();
    await isShown('A run is pinned to its current version.');
    for (const name of ['Source', 'Compiled', 'Pinned']) {
      const form = page.getByRole('region', { name, exact: true });
      await form.getByText('"Research"').first().waitFor();
    }
    expect(complaints).toEqual([]);
  });
});

describe('a changed workflow', () => {
  it('[K61] is compared with a run’s pin, side by side', async () => {
    const file = path.join(live.workflows, 'tidy.json');
    const write = (title: string) => {
      const steps = [{ id: 'look', title, prompt: 'Look at what lies around, and note it.' }];
      const about = { id: 'project.tidy', name: 'Tidy', description: 'Tidies up.', version: '1.0.0' };
      writeFileSync(file, JSON.stringify({ ...about, steps }));
    };
    write('Look');
    const { sessionId } = given(await live.guided.start({ workflowId: 'project.tidy' }));
    await open(`/workflows?session=${sessionId}`);
    await page.getByRole('link', { name: 'pinned version' }).waitFor();
    write('Look around twice');
    await isShown('The source of its workflow has changed since.');
    await page.getByRole('link', { name: 'Compare' }).click();
    await isShown('Its source has changed since the run was pinned');
    await page.getByLabel('Proposed').getByText('Look around twice').first().waitFor();
    await page.getByRole('region', { name: 'Pinned', exact: true }).getByText('"Look"').first().waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('changing a workflow', () => {
  it('[K103] [K104] copies a bundled one, checks what is typed, saves it, and notices another change of the file', async () => {
    await open('/workflows?workflow=wr.code-review');
    await isShown('It comes with the program and stays as it is. Copy it to change it.');
    const copy = page.getByRole('form', { name: 'Copy wr.code-review' });
    await copy.getByLabel('Id of the copy').fill('wr.mine');
    await copy.getByRole('button', { name: 'Copy' }).click();
    await copy.getByText('Could not copy the workflow').waitFor();
    await copy.getByLabel('Id of the copy').fill('team.looked_at');
    await copy.getByRole('button', { name: 'Copy' }).click();
    await page.waitForURL(/workflow=team\.looked_at/);
    await page.getByRole('button', { name: 'Edit the source' }).click();

    const editor = page.getByRole('region', { name: 'Source of team.looked_at' });
    const field = editor.getByLabel('Source', { exact: true });
    const save = editor.getByRole('button', { name: 'Save' });
    await editor.getByText('It can be run: sha256:').waitFor();
    const whole = JSON.parse(await field.inputValue());
    await field.fill('{ "id": ');
    await editor.getByText('Not JSON:').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await field.fill(JSON.stringify({ ...whole, steps: [] }));
    await editor.getByText('It cannot be run.').waitFor();
    expect(await save.isDisabled()).toBe(true);
    await editor.getByText('Fields', { exact: true }).click();
    await field.fill('{}');
    await field.press('ArrowLeft');
    await editor.getByRole('button', { name: 'metaGuidance', exact: true }).click();
    expect(JSON.parse(await field.inputValue())).toEqual({ metaGuidance: '' });
    const faults = await faultsOf(page);
    expect(faults).toEqual([]);

    await field.fill(JSON.stringify({ ...whole, name: 'Looked at' }));
    await editor.getByText('It can be run: sha256:').waitFor();
    await editor.getByRole('button', { name: 'Show changes' }).click();
    await editor.getByLabel('Proposed').getByText('Looked at').first().waitFor();
    await save.click();
    const file = path.join(live.workflows, 'looked_at.json');
    await page.getByRole('region', { name: 'Compiled', exact: true }).getByText('"Looked at"').first().waitFor();
    expect(JSON.parse(readFileSync(file, 'utf8')).name).toBe('Looked at');

    writeFileSync(file, JSON.stringify({ ...whole, name: 'Changed elsewhere' }));
    await field.fill(JSON.stringify({ ...whole, name: 'Mine' }));
    await editor.getByText('It can be run: sha256:').waitFor();
    await save.click();
    await editor.getByText('Could not save the workflow').waitFor();
    await editor.getByRole('button', { name: 'Read the file again' }).click();
    await editor.getByRole('button', { name: 'Load it' }).click();
    expect(JSON.parse(await field.inputValue()).name).toBe('Changed elsewhere');
    expect(JSON.parse(readFileSync(file, 'utf8')).name).toBe('Changed elsewhere');
  });
});

describe('a session whose log is damaged', () => {
  it('[K69] says so, shows the part before the damage, and cannot be continued', async () => {
    const started = given(await live.guided.start({ workflowId: 'wr.code-review' }));
    const { sessionId } = started;
    given(await live.guided.continue(filledIn(started)));
    const events = path.join(live.dataDirectory, 'sessions', sessionId, 'events');
    const segment = readdirSync(events).sort().at(-1) ?? '';
    appendFileSync(path.join(events, segment), '{"not":"an event"}\n');
    await open(`/workflows?session=${sessionId}`);
    const told = page.getByRole('alert').filter({ hasText: 'Its log is damaged' });
    await told.getByText('it cannot be continued').waitFor();
    await told.getByText(`signalbox verify ${sessionId}`).waitFor();
    await page.locator('.react-flow__node').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the server’s own facts', () => {
  it('[K62] the briefing has the providers that were called, and their cost', async () => {
    await open('/');
    const provider = page.getByRole('listitem', { name: 'scripted' });
    await provider.getByText('OK').waitFor();
    await provider.getByText('models/release.json: ').waitFor();
    await isShown('seven days');
  });

  it('[K64] settings show desired and applied values, keys as references, tools and retention', async () => {
    await open('/settings');
    const part = (name: string) => page.getByRole('region', { name });
    await part('Configuration: desired and applied').getByText('retention.removeAfterDays').waitFor();
    await part('Providers and keys').getByText('ANTHROPIC_API_KEY').waitFor();
    await part('Tools and approvals').getByText('write_file').waitFor();
    await part('Retention').getByText('Runs that ended are removed').waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K65] [K93] a user gets a token with a role and an expiry, shown once; rotated or removed, it is void', async () => {
    await page.getByLabel('Name of a new user').fill('ada');
    await page.getByLabel('Role').selectOption('approver');
    await page.getByLabel('Expires').selectOption('30 days');
    await page.getByRole('button', { name: 'Add a user' }).click();
    const told = page.getByRole('region', { name: 'Token of ada' });
    const token = (await told.locator('code').textContent()) ?? '';
    const asked = (): Promise<Response> =>
      fetch(`${live.url}/api/settings`, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await asked()).json()).toMatchObject({
      user: { name: 'ada', role: 'approver', isDefault: false },
    });
    await told.getByRole('button', { name: 'Done' }).click();
    await open('/settings');
    const users = page.getByRole('list', { name: 'Users' });
    await users.getByText('ada', { exact: true }).waitFor();
    await users.getByText('approver', { exact: true }).waitFor();
    await users.getByText('expires').waitFor();
    await users.getByText('used').waitFor();
    expect(await page.locator('body').innerText()).not.toContain(token);
    await page.getByRole('button', { name: 'Rotate ada…' }).click();
    await page.getByLabel('I understand this').check();
    await page.getByRole('button', { name: 'Rotate', exact: true }).click();
    await told.getByRole('button', { name: 'Done' }).click();
    await expect.poll(async () => (await asked()).status).toBe(401);
    await page.getByRole('button', { name: 'Remove ada…' }).click();
    await page.getByLabel('I understand this').check();
    await page.getByRole('button', { name: 'Remove', exact: true }).click();
    await isShown('No users yet');
    await expect.poll(async () => (await asked()).status).toBe(401);
  });

  it('[K66] an optional page has raw JSON, the OpenAPI document and metrics', async () => {
    await expect.poll(() => page.getByRole('link', { name: 'Developer' }).count()).toBe(0);
    await page.getByLabel('Show a page with raw JSON').check();
    await page.getByRole('link', { name: 'Developer' }).click();
    await page.getByRole('button', { name: 'Load openapi.json' }).click();
    await page.getByRole('region', { name: 'openapi.json' }).getByText('"openapi"').waitFor();
    await page.getByLabel('Run', { exact: true }).selectOption({ index: 1 });
    await page.locator('.form-text').getByText('"contractVersion"').first().waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('a start', () => {
  it('[K63] has a field for each input of the plan, and shows the server’s error there', async () => {
    await open('/start');
    await page.getByRole('button', { name: /^parts parts\.tsx/ }).click();
    const parts = page.getByLabel('parts (optional)');
    await parts.fill('2');
    await page.getByLabel('words (optional)').fill('made by hand');
    await page.getByLabel('Tags (comma-separated)').fill('by-form');
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const json = page.getByLabel('Input (JSON)');
    await expect.poll(async () => JSON.parse(await json.inputValue())).toEqual({ parts: 2, words: 'made by hand' });
    await json.fill('{"parts":"two"}');
    await page.getByRole('button', { name: 'Use the form' }).click();
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page
      .getByRole('alert')
      .filter({ hasText: /^parts: .*expected number/ })
      .waitFor();
    await parts.fill('2');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
    const run = new URL(page.url()).pathname.split('/').at(-1) as RunId;
    const started = given(await live.client.run(run));
    expect([started.input, started.record.tags]).toEqual([{ parts: 2 }, ['by-form']]);
    expect(complaints).toEqual([]);
  });
});

describe('for everybody', () => {
  it('[K30] pages with something in them have no fault that axe knows of, in light and in dark', async () => {
    const session = given(await live.client.sessions()).sessions.find(({ health }) => health === 'healthy');
    const places = [
      ['/runs', '.runline'],
      ['/artifacts?kind=progress', 'progress'],
      ['/failures', '.trend'],
      [`/workflows?session=${session?.sessionId}`, '.react-flow__node'],
      ['/workflows?workflow=wr.research', '.form-text'],
      ['/settings', '.facts-table'],
      ['/start', '.earlier-run'],
      ['/', '.providers'],
      ['/developer', '.sources'],
    ] as const;
    const faults: string[] = [];
    for (const [place, ready] of places) {
      await open(place);
      await page.locator(ready).first().waitFor();
      faults.push(...(await faultsOf(page)).map(fault => `${place}: ${fault}`));
    }
    expect(faults).toEqual([]);
  });

  it('[K12] 420 pixels are wide enough for every page', async () => {
    await page.setViewportSize({ width: 420, height: 900 });
    const session = given(await live.client.sessions()).sessions.find(({ health }) => health === 'healthy');
    const wide: string[] = [];
    for (const place of [
      '/',
      '/queue',
      '/runs',
      '/failures',
      '/artifacts',
      `/workflows?session=${session?.sessionId}`,
      '/workflows?workflow=wr.research',
      '/start',
      '/settings',
    ]) {
      await open(place);
      await page.locator('h1').first().waitFor();
      await page.locator('.rail-live').waitFor({ state: 'attached' });
      const over = await page.evaluate<number>(`document.querySelector('main').scrollWidth - innerWidth`);
      if (over > 0) wide.push(`${place} by ${over}`);
    }
    expect(wide).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});
