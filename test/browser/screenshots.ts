/**
 * Pictures of every page, light and dark, into docs/screenshots. Build the console first: `npm run build`.
 *
 *   node test/browser/screenshots.ts [NAME…]
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId, RunId } from '@signalbox/model';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import type { Page } from 'playwright-core';
import { filledIn, NOTES } from '../../packages/guided/test/support/agent-calls.ts';
import { repositoryRoot } from '../../scripts/local-program.ts';
import { given } from '../given.ts';
import { launchBrowser } from './chromium.ts';
import { type LiveConsole, openLiveConsole } from './live-console.ts';
import { untilStatus, untilSummary } from './live-page.ts';
import { smallPng } from './small-png.ts';

const [WIDTH, HEIGHT, BYTES_MAX] = [1280, 700, 120_000];
const wanted = process.argv.slice(2);
const folder = path.join(repositoryRoot, 'docs/screenshots');
/** What the echo agent does in place of a vendor's agent. */
const AGENT_STEPS: readonly EchoStep[] = [
  {
    do: 'update',
    update: {
      sessionUpdate: 'plan',
      entries: [
        { content: 'Read CHANGES.md', priority: 'high', status: 'completed' },
        { content: 'Add the entry for 2.4.0', priority: 'high', status: 'in_progress' },
        { content: 'Check the links', priority: 'low', status: 'pending' },
      ],
    },
  },
  { do: 'think', text: 'The newest version comes first, so the entry belongs above 2.3.1.' },
  { do: 'say', text: 'CHANGES.md has no entry for 2.4.0 yet. I will add one above the last version.' },
  {
    ...{ do: 'tool', id: 'read', kind: 'read', name: 'Read', title: 'Read CHANGES.md', input: { path: 'CHANGES.md' } },
    ...{ locations: [{ path: 'CHANGES.md' }], statuses: ['pending', 'completed'] },
  },
  {
    ...{ do: 'ask', id: 'edit', kind: 'edit', name: 'Edit', title: 'Edit CHANGES.md', input: { path: 'CHANGES.md' } },
    locations: [{ path: 'CHANGES.md' }],
    diff: {
      path: 'CHANGES.md',
      oldText: '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n',
      newText: '# Changes\n\n## 2.4.0\n\n- Reports open twice as fast.\n\n## 2.3.1\n\n- The export keeps its order.\n',
    },
  },
];

const echo = { command: [process.execPath, echoAgentProgram], title: 'Echo agent' };
const live = await openLiveConsole({ config: { agents: { echo } } });
const browser = await launchBrowser();
try {
  const places = await scene(live);
  for (const colorScheme of ['light', 'dark'] as const) {
    const context = await browser.newContext({ viewport: { width: WIDTH, height: HEIGHT }, colorScheme });
    const page = await context.newPage();
    for (const [name, place, isReady] of places) {
      if (wanted.length > 0 && !wanted.includes(name)) continue;
      await page.goto(`${live.url}${place}#token=${live.token}`);
      await isReady(page);
      writeFileSync(path.join(folder, `${name}-${colorScheme}.png`), await pictureOf(page));
    }
    await context.close();
  }
} finally {
  await browser.close();
  await live.close();
}

/** A page that is full of text is cut at its end: no picture takes more than so many bytes. */
async function pictureOf(page: Page): Promise<Buffer> {
  for (let height = HEIGHT; ; height -= 40) {
    const clip = { x: 0, y: 0, width: WIDTH, height };
    const png = smallPng(await page.screenshot({ animations: 'disabled', clip }));
    if (png.length < BYTES_MAX) return png;
  }
}

type Place = readonly [name: string, place: string, isReady: (page: Page) => Promise<unknown>];

/** Runs that wait, failed, completed and keep something, and an agent that is guided. */
async function scene({ client, plan, project, broken, guided, ...console }: LiveConsole): Promise<readonly Place[]> {
  console.break();
  for (let parcel = 1; parcel <= 5; parcel += 1) await start('deliver', 'failed', { broken, parcel });
  const failed = await start('release', 'waiting', { project, broken, version: '2.3.9', checks: 9 }, ['nightly']);
  await answer(failed);
  await until(failed, 'failed');
  console.mend();
  await start('notes', 'completed', undefined, [], project);
  const waiting = await start('release', 'waiting', { project, checks: 24 }, ['nightly', 'eu']);
  await start('release', 'waiting', { project, version: '2.5.0', checks: 3 });
  const started = given(await guided.start({ workflowId: 'wr.bug-investigation' }));
  const needsFromUser = [{ reason: 'needs_user_account_access' as const, summary: 'May I see the build server?' }];
  const output = { notesMarkdown: NOTES, needsFromUser };
  const { stateToken, ackToken = '' } = started;
  given(await guided.continue({ stateToken, ackToken, output }));
  let walked = given(await guided.start({ workflowId: 'wr.bug-investigation' }));
  for (let steps = 0; steps < 4; steps += 1) walked = given(await guided.continue(filledIn(walked)));
  const tasks = [{ id: 'writer', plugin: 'echo', prompt: echoPrompt(AGENT_STEPS) }];
  const vendors = given(
    await client.start({ file: plan('vendors'), input: { project, tasks } } as Parameters<typeof client.start>[0]),
  ).id;
  await untilSummary(client, vendors, ({ openDecisions }) => openDecisions > 0);
  const permission = given(await client.decisions({ run: vendors })).approvals[0]?.approvalId;
  given(await client.checkAgent('echo'));
  while (given(await client.agents()).agents.some(({ job }) => job !== undefined)) await nextLook();
  const text = (words: string | RegExp) => (page: Page) => page.getByText(words).first().waitFor();
  const diff = (page: Page) => page.getByLabel('Proposed').waitFor();
  const asked = given(await client.decisions({ run: waiting })).approvals[0]?.approvalId;
  return [
    ['briefing', '/', text('seven days')],
    ['queue', `/queue?decision=${asked}`, diff],
    ['queue-agent', `/queue?decision=${permission}`, diff],
    ['runs', '/runs', page => page.locator('.runline .tag').first().waitFor()],
    ['run', `/runs/${waiting}?node=changelog`, diff],
    [
      'run-graph',
      `/runs/${waiting}?tab=plan&node=changelog&look=tools`,
      page => page.locator('.flow-node').first().waitFor(),
    ],
    ['run-frame', `/runs/${waiting}?frame=7&node=check`, text('was rendered because of')],
    ['run-failed', `/runs/${failed}?node=smoke-test`, text('the database is not there')],
    ['run-transcript', `/runs/${vendors}?node=writer`, text('waits for an answer')],
    ['failures', '/failures', text('consecutive failures')],
    ['artifacts', '/artifacts', text('bytes')],
    ['workflows', `/workflows?session=${walked.sessionId}`, page => page.locator('.react-flow__node').nth(4).waitFor()],
    ['workflow-forms', '/workflows?workflow=wr.research', text('"metricsProfile"')],
    ['start', `/start?like=${waiting}`, page => page.getByLabel('version (optional)').waitFor()],
    ['settings', '/settings', text('Safety')],
    [
      'settings-server',
      '/settings',
      page => page.getByRole('heading', { name: 'Providers and keys' }).evaluate(part => part.scrollIntoView()),
    ],
    [
      'settings-agents',
      '/settings',
      page => page.getByRole('heading', { name: 'Agents', exact: true }).evaluate(part => part.scrollIntoView()),
    ],
    ['developer', `/developer?run=${waiting}`, text('"contractVersion"')],
  ];

  async function start(
    name: string,
    end: string,
    input?: object,
    tags: string[] = [],
    directory?: string,
  ): Promise<RunId> {
    const body = { file: plan(name), tags, ...(input && { input: { ...input } }), ...(directory && { directory }) };
    const { id } = given(await client.start(body as Parameters<typeof client.start>[0]));
    await until(id, end);
    return id;
  }

  async function answer(run: RunId): Promise<void> {
    const { approvals } = given(await client.decisions({ run }));
    given(await client.resolve(approvals[0]?.approvalId as ApprovalId, { status: 'approved' }));
  }

  function until(run: RunId, wanted: string): Promise<void> {
    return untilStatus(client, run, wanted);
  }
}

function nextLook(): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, 100));
}
