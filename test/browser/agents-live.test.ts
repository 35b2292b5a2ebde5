import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '@signalbox/model';
import { detectSandbox } from '@signalbox/state';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import { type FakeNpm, fakeNpm } from './fake-npm.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, openLivePage, untilStatus, untilSummary } from './live-page.ts';

// One browser, one server, the echo agent under two names. Each test waits for what the server or the page says, never for a time.

const sandbox = await detectSandbox();
const echo = { command: [process.execPath, echoAgentProgram] };
const agents = {
  echo: { ...echo, title: 'Echo' },
  second: {
    ...echo,
    title: 'Second Echo',
    mode: 'ask',
    settings: { ECHO_AGENT: '{"modes":{"current":"ask","available":["ask","free"]}}' },
  },
  broken: { command: ['sh', '-c', 'exit 3'], title: 'Broken <i>one</i>' },
  lost: { command: ['/no/such/program'], title: 'Lost' },
};

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];
let npm: FakeNpm;

beforeAll(async () => {
  npm = fakeNpm();
  at = await openLivePage(undefined, { env: { PATH: npm.path }, config: { agents } });
  ({ live, page, complaints } = at);
});
afterAll(async () => {
  await at?.close();
  npm?.remove();
});

async function open(place: string, token = live.token): Promise<void> {
  // Another token at the same place is another page.
  await page.goto('about:blank');
  await page.goto(`${live.url}${place}#token=${token}`);
}
const rowOf = (title: string) => page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: title }) });
const stateOf = (row: Locator) => row.getByRole('status');

async function start(tasks: readonly object[]): Promise<RunId> {
  const body = { file: live.plan('vendors'), input: { project: live.project, tasks } };
  return given(await live.client.start(body as Parameters<typeof live.client.start>[0])).id;
}
const asks = (run: RunId, count: number) =>
  untilSummary(live.client, run, ({ openDecisions }) => openDecisions === count);

describe('agents in the settings', () => {
  it('[K94] are told apart by state, version, how they ask and what they report', async () => {
    await open('/settings');
    await stateOf(rowOf('Claude Code')).getByText('Not installed').waitFor();
    await rowOf('Claude Code').getByText('tokens and cost').waitFor();
    await rowOf('Claude Code').getByText('mode “default”').waitFor();
    await rowOf('Qwen Code').getByText('untried').waitFor();
    await stateOf(rowOf('Echo echo')).getByText('Command found').waitFor();
    await stateOf(rowOf('Lost')).getByText('Not installed').waitFor();
    await rowOf('Lost').getByText('The program "/no/such/program" was not found.').waitFor();
    // A title is text.
    await rowOf('Broken <i>one</i>').waitFor();
  });

  it('[K95] [K96] are added with progress, found again after a reload, canceled, and removed', async () => {
    const gemini = rowOf('Gemini CLI');
    await gemini.getByRole('button', { name: 'Add Gemini CLI' }).press('Enter');
    await stateOf(gemini).getByText('Installing…').waitFor();
    await gemini.getByText(/0 of \d+ packages unpacked, operator started it/).waitFor();
    await page.locator(':focus').and(gemini.getByRole('rowheader')).waitFor();
    await page.reload();
    await gemini.getByRole('progressbar', { name: 'Installation of Gemini CLI' }).waitFor();
    await gemini.getByRole('button', { name: 'Cancel the installation of Gemini CLI' }).press('Enter');
    await stateOf(gemini).getByText('Not installed').waitFor();
    npm.letGo();
    await gemini.getByRole('button', { name: 'Add Gemini CLI' }).click();
    await stateOf(gemini).getByText('Installed, no key').waitFor();
    await gemini.getByText('No key for its models is set: GEMINI_API_KEY or GOOGLE_API_KEY.').waitFor();
    await gemini.getByRole('button', { name: 'Remove… Gemini CLI' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
    await stateOf(gemini).getByText('Not installed').waitFor();
    expect(existsSync(path.join(live.dataDirectory, 'agents/gemini'))).toBe(false);
  });

  it('[K95] [K102] show why an installation failed, as text', async () => {
    npm.fail();
    const gemini = rowOf('Gemini CLI');
    await gemini.getByRole('button', { name: 'Add Gemini CLI' }).click();
    await stateOf(gemini).getByText('Installation failed').waitFor();
    await gemini.getByText('npm failed: code E404 <b>not</b> in this registry').waitFor();
  });

  it.skipIf(!sandbox.ok)('[K94] [K95] are checked, and broken ones show the sentence of the check', async () => {
    await rowOf('Echo echo').getByRole('button', { name: 'Check Echo' }).click();
    await stateOf(rowOf('Echo echo')).getByText('Checking…').waitFor();
    await stateOf(rowOf('Echo echo')).getByText('Command found, checked').waitFor();
    await rowOf('Echo echo')
      .getByText(/completed a turn/)
      .waitFor();
    await rowOf('Broken').getByRole('button', { name: 'Check Broken' }).click();
    await stateOf(rowOf('Broken'))
      .getByText(/: Broken$/)
      .waitFor();
    await rowOf('Broken')
      .getByText(/ended before its turn did: it exited with 3/)
      .waitFor();
  });

  it('[K95] an operator checks and adds nothing, a viewer looks', async () => {
    const tokenOf = async (role: 'operator' | 'viewer') =>
      given(await live.client.addUser(`a-${role}`, { role })).token;
    await open('/settings', await tokenOf('operator'));
    await rowOf('Echo echo').getByRole('button', { name: 'Check Echo' }).waitFor();
    expect(await page.getByRole('button', { name: /^(Add|Remove…) / }).count()).toBe(0);
    await open('/settings', await tokenOf('viewer'));
    await stateOf(rowOf('Echo echo')).waitFor();
    expect(await rowOf('Echo echo').getByRole('button').count()).toBe(0);
  });

  it('[K12] [K30] have no fault that axe detects, in light and in dark, and fit into 420 pixels', async () => {
    await open('/settings');
    await stateOf(rowOf('Gemini CLI')).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 420, height: 800 });
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(420);
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

const HTML = '<img src=x onerror="document.title=1">';
const edit: EchoStep = {
  ...{
    do: 'ask',
    id: 'e',
    kind: 'edit',
    title: `Edit CHANGES.md ${HTML}`,
    name: 'Edit',
    input: { file: 'CHANGES.md' },
  },
  locations: [{ path: 'CHANGES.md' }],
  diff: { path: 'CHANGES.md', oldText: '# Changes\n', newText: `# Changes\n\n${HTML}\n` },
  allowed: [{ do: 'append', file: 'CHANGES.md', text: 'A new line.' }],
};
const unsaid: EchoStep = {
  ...{ do: 'ask', id: 'r', kind: 'execute', title: 'Run the tests' },
  options: [
    { optionId: 'go', name: 'Go', kind: 'allow_once' },
    { optionId: 'never', name: 'Not now', kind: 'reject_once' },
  ],
};
const work: readonly EchoStep[] = [
  {
    do: 'update',
    update: {
      sessionUpdate: 'plan',
      entries: [
        { content: 'Read the file', priority: 'high', status: 'completed' },
        { content: `Change it ${HTML}`, priority: 'high', status: 'in_progress' },
        { content: 'Say so', priority: 'low', status: 'pending' },
      ],
    },
  },
  { do: 'think', text: `Nobody reads ${HTML} as markup.` },
  { do: 'say', text: 'I will change the file.' },
  {
    do: 'tool',
    id: 't',
    kind: 'read',
    title: 'Read CHANGES.md',
    locations: [{ path: 'CHANGES.md' }],
    statuses: ['pending', 'completed'],
  },
  edit,
  { do: 'say', text: 'It is done.' },
];

describe.skipIf(!sandbox.ok)('agents of other vendors', () => {
  let run: RunId;

  it('[K99] [K101] ask with everything they sent, by name, and offer their own options', async () => {
    run = await start([
      { id: 'writer', plugin: 'echo', prompt: echoPrompt(work) },
      { id: 'tester', plugin: 'second', prompt: echoPrompt([unsaid, { do: 'say', text: 'Not tested.' }]) },
    ]);
    await asks(run, 2);
    await open('/queue');
    const list = page.getByRole('list', { name: 'Decisions' });
    await list.getByText('Echo · writer in vendors').waitFor();
    await list.getByText('Second Echo · tester in vendors').click();
    const desk = page.getByRole('article');
    await desk.getByText('Second Echo did not send the arguments of this call').waitFor();
    await desk.getByText('command', { exact: true }).waitFor();
    expect(await desk.getByRole('button', { name: 'Modify…' }).count()).toBe(0);
    await desk
      .getByRole('button', { name: /^Always allow .*exactly the title “Run the tests” of Second Echo in this session/ })
      .waitFor();
    await desk.getByRole('button', { name: /^Not now/ }).click();
    await asks(run, 1);
    await list.getByText('Echo · writer in vendors').click();
    await desk.getByText(`Edit CHANGES.md ${HTML}`).first().waitFor();
    await desk.getByLabel('Proposed').getByText(HTML).waitFor();
    await desk.getByRole('button', { name: /^Always allow .*the exact tool “Edit” of Echo in this session/ }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  it('[K97] [K98] [K102] show their session, mode, plan, thoughts and calls while they work', async () => {
    await open(`/runs/${run}?node=writer`);
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText(/^echo-\d+$/).waitFor();
    await transcript.getByText('by our settings for it').waitFor();
    await transcript.getByText(`Change it ${HTML}`).waitFor();
    await transcript.getByText('in progress').waitFor();
    await transcript.getByText('I will change the file.', { exact: true }).first().waitFor();
    await transcript.getByText('Thought').click();
    await transcript.locator('p').getByText(`Nobody reads ${HTML} as markup.`).waitFor();
    const card = transcript.getByRole('listitem').filter({ hasText: 'Edit' }).last();
    await transcript.getByText('waits for an answer').first().waitFor();
    await page.getByRole('button', { name: /^Allow / }).click();
    await untilStatus(live.client, run, 'completed');
    await transcript.getByText('It is done.', { exact: true }).waitFor();
    await card.getByRole('figure', { name: 'Change of CHANGES.md' }).getByText(`+${HTML}`).waitFor();
    await card.getByText('succeeded', { exact: false }).first().waitFor();
    expect(readFileSync(path.join(live.project, 'CHANGES.md'), 'utf8')).toContain('A new line.');
    expect(await faultsOf(page)).toEqual([]);
    await open(`/runs/${run}?node=tester`);
    await transcript.getByText('by its mode “ask”').waitFor();
    await transcript.getByText('denied').first().waitFor();
    expect(await page.title()).not.toBe('1');
  });

  it('[K97] [K98] keep attempts apart, and say which calls were cut off', async () => {
    const dies: readonly EchoStep[] = [
      { do: 'tool', id: 't', kind: 'search', title: 'Search everything', statuses: ['in_progress'] },
      { do: 'exit', code: 7 },
    ];
    const again = await start([{ id: 'frail', plugin: 'echo', prompt: echoPrompt(dies) }]);
    await untilStatus(live.client, again, 'failed');
    await open(`/runs/${again}?node=frail`);
    const rows = page.getByRole('region', { name: 'Transcript' }).getByRole('listitem');
    await rows
      .getByText(/This turn failed\. Echo ended before its turn did: it exited with 7/)
      .last()
      .waitFor();
    const [first, second] = (await rows.allInnerTexts()).join('\n').split('Attempt 2');
    for (const attempt of [first, second]) {
      expect(attempt).toContain('cut off');
      expect(attempt).toMatch(/echo-\d+/);
    }
  });

  it('[K100] have their changes reviewed file by file, and applied or dropped', async () => {
    const writes: readonly EchoStep[] = [
      {
        ...edit,
        id: 'a',
        title: 'Write',
        diff: undefined as never,
        allowed: [
          { do: 'write', file: 'new/one.md', text: `one ${HTML}\n` },
          { do: 'append', file: 'CHANGES.md', text: 'Another line.' },
        ],
      } as EchoStep,
      { do: 'say', text: 'Written.' },
    ];
    const review = await start([{ id: 'author', plugin: 'echo', prompt: echoPrompt(writes), apply: 'ask' }]);
    await asks(review, 1);
    await open(`/runs/${review}`);
    await page.getByRole('button', { name: /^Allow / }).click();
    await page.getByText('Echo is done. Apply its').waitFor();
    const card = page.getByRole('article').filter({ hasText: 'Echo is done.' });
    await card.getByRole('region', { name: 'new/one.md' }).getByText(`one ${HTML}`).waitFor();
    await card.getByRole('region', { name: 'CHANGES.md' }).getByText('Another line.').waitFor();
    expect(await card.getByRole('button', { name: 'Deny' }).count()).toBe(0);
    await card.getByRole('button', { name: /^Drop Discards all of these changes/ }).waitFor();
    expect(existsSync(path.join(live.project, 'new/one.md'))).toBe(false);
    writeFileSync(path.join(live.project, 'CHANGES.md'), 'Somebody else.\n');
    await card.getByRole('button', { name: /^Apply Writes these changes/ }).click();
    const conflict = page.getByRole('article').filter({ hasText: 'conflict' });
    await conflict.getByRole('row').filter({ hasText: 'CHANGES.md' }).getByText('created or changed').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await conflict.getByRole('button', { name: /^Apply everything else/ }).click();
    await untilStatus(live.client, review, 'completed');
    expect(readFileSync(path.join(live.project, 'CHANGES.md'), 'utf8')).toBe('Somebody else.\n');
    expect(readFileSync(path.join(live.project, 'new/one.md'), 'utf8')).toBe(`one ${HTML}\n`);
    expect(complaints).toEqual([]);
  });
});
