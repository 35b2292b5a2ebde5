import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId, RunId } from '@signalbox/model';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NOTES } from '../../packages/guided/test/support/agent-calls.ts';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, LOST, openLivePage, untilStatus } from './live-page.ts';
import { tellsOneStory } from './story.ts';

// One browser, one server, one story: each test goes on where the one before it ended.
tellsOneStory();

let at: LivePage;
let live: LiveConsole;
let context: BrowserContext;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  at = await openLivePage(LOST);
  ({ live, context, page, complaints } = at);
});
afterAll(() => at?.close());

const open = (place: string) => page.goto(`${live.url}${place}#token=${live.token}`);
const isShown = (words: string | RegExp) => page.getByText(words).first().waitFor();
const node = (id: string) => page.locator(`[data-node="${id}"]`);
const status = (word: string) => page.getByRole('status').filter({ hasText: word }).waitFor();
const tab = (name: string) => page.getByRole('tab', { name }).click();
/** The second key counts for a moment only, which a busy machine may miss. */
const goTo = (key: string, place: RegExp) =>
  expect
    .poll(async () => {
      for (const one of ['g', key]) await page.keyboard.press(one);
      return new URL(page.url()).pathname;
    })
    .toMatch(place);
const runOfPage = () => new URL(page.url()).pathname.split('/').at(-1) as RunId;
const until = (run: RunId, status: string) => untilStatus(live.client, run, status);

describe('a run from its start to its end', () => {
  it('[K18] is started from a form, which shows errors before it is sent', async () => {
    live.break();
    await open('/start');
    await page.getByLabel('Plan file').fill(live.plan('release'));
    await page.getByLabel('Plan file').press('Tab');
    await page.getByRole('button', { name: 'Edit as JSON' }).click();
    const input = page.getByLabel('Input (JSON)');
    await input.fill('{ not json');
    await isShown('Invalid JSON');
    await expect.poll(() => page.getByRole('button', { name: 'Start', exact: true }).isDisabled()).toBe(true);
    await input.fill(JSON.stringify({ project: live.project, broken: live.broken, checks: 12 }));
    await page.getByLabel('Tags (comma-separated)').fill('nightly, eu');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
    expect((await live.client.run(runOfPage())).ok).toBe(true);
  });

  it('[K20] its frames arrive live, and viewing a past frame stops following', async () => {
    await status('needs you');
    await isShown(/of 1\d in total/);
    await isShown('following');
    const slider = page.getByRole('slider');
    await slider.focus();
    for (let presses = 0; presses < 4; presses += 1) await page.keyboard.press('ArrowLeft');
    await page.getByRole('button', { name: 'Back to now' }).waitFor();
    await tab('State');
    await page.locator('[data-change=changed]').first().waitFor();
    const change = async () => {
      const [before, after] = await page.locator('tr:has(th:text("checks")) pre').allTextContents();
      return Number(after) - Number(before);
    };
    await expect.poll(change).toBe(1);
    await page.waitForURL(/frame=\d+/);
    await page.keyboard.press('.');
    await isShown('following');
    await page.waitForURL(url => !url.searchParams.has('frame'));
    await tab('Now');
  });

  it('[K19] tree, frame and inspector are visible at once, and the selection is in the address', async () => {
    await node('changelog').click();
    for (const name of ['Plan tree', 'Frame', 'Inspector']) {
      await expect.poll(() => page.getByRole('region', { name, exact: true }).isVisible()).toBe(true);
    }
    await tab('Tools');
    await page.waitForURL(/node=changelog&look=tools/);
    const address = page.url();
    await page.reload();
    await page.getByRole('region', { name: 'Inspector' }).getByRole('article', { name: 'Read CHANGES.md' }).waitFor();
    await expect.poll(() => page.url()).toBe(address);
  });

  it('[K22] the inspector has a node’s input, tools, logs, output and source location', async () => {
    const seen: Record<string, RegExp> = {
      Summary: /4\.3 k tokens/,
      Input: /Put the heading of version 2\.4\.0/,
      Output: /The newest heading is 2\.3\.1/,
      Tools: /CHANGES\.md/,
      Logs: /First I look at what is there/,
      JSON: /"node": "changelog"/,
      Definition: /release\.tsx:\d+:\d+/,
    };
    const inspector = page.getByRole('region', { name: 'Inspector' });
    for (const [name, words] of Object.entries(seen)) {
      await inspector.getByRole('tab', { name }).click();
      await inspector.getByText(words).first().waitFor();
    }
  });

  it('[K21] its plan is a graph, an outline, XML and JSON; the tree is filtered', async () => {
    await tab('Plan');
    await page.locator('.flow-node').first().waitFor();
    for (const [form, words] of [
      ['Outline', 'Smoke test <task> idle'],
      ['XML', '<task id="smoke-test" label="Smoke test"'],
      ['JSON', '"id": "smoke-test"'],
    ] as const) {
      await page.getByRole('button', { name: form, exact: true }).click();
      await page.locator('.code-whole').getByText(words).waitFor();
    }
    await page.getByRole('searchbox', { name: 'Filter the plan' }).fill('smoke');
    await node('rollout').waitFor({ state: 'detached' });
    await expect.poll(() => node('smoke-test').isVisible()).toBe(true);
    await page.getByRole('searchbox', { name: 'Filter the plan' }).fill('');
    expect(complaints).toEqual([]);
  });

  it('[K14] the briefing shows what needs the person, and the cost', async () => {
    const run = runOfPage();
    await page.getByRole('searchbox', { name: 'Filter the plan' }).press('Escape');
    await goTo('b', /^\/$/);
    await page.getByRole('link', { name: 'Change CHANGES.md' }).waitFor();
    await expect
      .poll(() => page.getByRole('region', { name: 'In short' }).innerText())
      .toMatch(/0\s+running\s+1\s+needs you/);
    await page
      .getByRole('region', { name: 'Cost' })
      .getByText(/models\/release\.json/)
      .waitFor();
    await page.getByRole('link', { name: 'Change CHANGES.md' }).click();
    await page.waitForURL(/\/queue/);
    expect((await live.client.decisions({ run })).ok).toBe(true);
  });

  it('[K86] the briefing shows what a recovery did, with its paths, until it is dismissed', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const cut = { tool: 'run_command', at: new Date().toISOString(), run: '019b8d62-0000-7000-8000-000000000001' };
    const recoveries = [
      {
        ...cut,
        id: 'call-1',
        outcome: 'rolled-back',
        message: 'Rolled back.',
        paths: [{ what: 'kept', paths: ['a.txt'], more: 2 }],
      },
      { ...cut, id: 'call-2', at, outcome: 'failed', message: 'The directory is gone.', paths: [] },
    ];
    writeFileSync(path.join(live.dataDirectory, 'recoveries.json'), JSON.stringify({ recoveries }));
    await open('/');
    const panel = page.getByRole('region', { name: 'Recovered after a crash' });
    await expect.poll(() => panel.innerText()).toMatch(/call-1.*Rolled back\..*kept: a\.txt and 2 more/s);
    expect(await panel.innerText()).toContain('The directory is gone.');
    await panel.getByRole('button', { name: 'Dismiss' }).click();
    await panel.getByText('call-1').waitFor({ state: 'detached' });
    // A failed recovery stays, and cannot be dismissed.
    expect(await panel.innerText()).toContain('call-2');
    expect(await panel.getByRole('button', { name: 'Dismiss' }).count()).toBe(0);
    writeFileSync(path.join(live.dataDirectory, 'recoveries.json'), '');
    const { approvals } = given(await live.client.decisions());
    await open(`/queue?decision=${approvals[0]?.approvalId}`);
  });

  it('[K15] the queue shows the exact change side by side and what led to it; a key answers, and the run continues', async () => {
    const [before, after] = [page.getByLabel('Current'), page.getByLabel('Proposed')];
    await after.waitFor();
    expect(await before.innerText()).not.toContain('2.4.0');
    await expect.poll(() => after.innerText()).toContain('- The export is twice as fast.');
    await page.getByRole('region', { name: 'Context' }).getByText('I look at the change log as it is.').waitFor();
    const { approvals } = given(await live.client.decisions());
    const run = approvals[0]?.runId as RunId;
    const failed = until(run, 'failed');
    await page.keyboard.press('a');
    await isShown('Nothing needs you.');
    await failed;
    expect(readFileSync(path.join(live.project, 'CHANGES.md'), 'utf8')).toContain('## 2.4.0');
  });

  it('[K23] [K77] a failure is shown with its reason, and retried where it is shown', async () => {
    await open('/runs?view=failed');
    await page.getByRole('link', { name: /release/ }).click();
    await isShown('the database is not there');
    live.mend();
    const waits = until(runOfPage(), 'waiting');
    await page.getByRole('alert').getByRole('button', { name: 'Retry Smoke test' }).click();
    await waits;
    await page.getByRole('button', { name: 'A tenth first' }).waitFor();
    await expect.poll(() => node('smoke-test').getAttribute('data-status')).toBe('succeeded');
  });

  it('[K31] a restart of the server under the open page loses nothing and needs no reload', async () => {
    await page.evaluate('window.isSamePage = true');
    await live.stop();
    await isShown('Reconnecting');
    await live.start();
    await page.getByText('Reconnecting').first().waitFor({ state: 'detached' });
    const done = until(runOfPage(), 'completed');
    await page.getByRole('button', { name: 'A tenth first' }).click();
    await done;
    await status('completed');
    await node('publish').and(page.locator('[data-status=succeeded]')).waitFor();
    const { nextSeq, frames } = given(await live.client.run(runOfPage())).record;
    await isShown(`of ${frames} in total`);
    await tab('Events');
    await isShown(`${nextSeq} in total`);
    await expect.poll(() => page.evaluate('window.isSamePage')).toBe(true);
    expect(complaints).toEqual([]);
  });

  it('[K18] is started again with the values of an earlier one; the same key starts it once', async () => {
    await open('/start');
    await page
      .getByRole('button', { name: /Use values/ })
      .first()
      .click();
    await expect.poll(() => page.getByLabel('broken (optional)').inputValue()).toContain('broken');
    await page.getByText('More', { exact: true }).click();
    const starts: string[] = [];
    for (let times = 0; times < 2; times += 1) {
      await page.getByLabel('Idempotency key').fill('the-same');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
      starts.push(runOfPage());
      await page.goBack();
      await page
        .getByRole('button', { name: /Use values/ })
        .first()
        .click();
      await expect.poll(() => page.getByLabel('broken (optional)').inputValue()).toContain('broken');
      if (times === 0) await page.getByText('More', { exact: true }).click();
    }
    expect(new Set(starts).size).toBe(1);
    await until(starts[0] as RunId, 'waiting');
  });
});

describe('actions of a person', () => {
  it('[K24] terminating is confirmed, and hidden if it is switched off', async () => {
    const { runs } = given(await live.client.runs({ status: ['waiting'] }));
    const run = runs[0]?.id as RunId;
    await open('/settings');
    await page.getByLabel('Hide').check();
    await open(`/runs/${run}`);
    const more = page.getByRole('button', { name: 'More actions' });
    await more.click();
    await page.getByRole('menuitem', { name: 'Send a signal' }).waitFor();
    await expect.poll(() => page.getByRole('menuitem', { name: 'Terminate' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    await open('/settings');
    await page.getByLabel('Ask for confirmation').check();
    await open(`/runs/${run}`);
    await more.click();
    await page.getByRole('menuitem', { name: 'Terminate' }).click();
    const doIt = page.getByRole('dialog').getByRole('button', { name: 'Terminate' });
    await expect.poll(() => doIt.isDisabled()).toBe(true);
    await page.getByLabel('I understand').check();
    await doIt.click();
    await status('stopped');
  });

  it('[K25] a signal is sent with a payload', async () => {
    const { id } = given(await live.client.start({ file: live.plan('release'), input: { project: live.project } }));
    await until(id, 'waiting');
    await open(`/runs/${id}?tab=events`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Send a signal' }).click();
    await page.getByLabel('Name').fill('freeze');
    await page.getByLabel('Payload').fill('{"until":"Monday"}');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('listitem').filter({ hasText: 'signal.received' }).waitFor();
  });

  it('[K26] a key of state is watched over time', async () => {
    await tab('State');
    await page.getByRole('button', { name: 'Watch checks' }).click();
    await tab('Now');
    const watched = page.getByRole('region', { name: 'Watched: checks' });
    await watched.getByText('check.passed').first().waitFor();
    await expect.poll(() => watched.getByRole('listitem').count()).toBe(6);
    await watched.getByRole('button', { name: 'Watch checks' }).click();
  });

  it('[K15] many decisions are answered at once, and one with changed arguments', async () => {
    for (let count = 0; count < 2; count += 1) {
      const { id } = given(await live.client.start({ file: live.plan('release'), input: { project: live.project } }));
      await until(id, 'waiting');
    }
    await open('/queue');
    await isShown('3 decisions need you.');
    const item = (id: string | null) => page.locator(`.queue-list > [data-item="${id}"]`);
    const listed = await page.locator('.queue-list > li').all();
    const [first, ...others] = await Promise.all(listed.map(each => each.getAttribute('data-item')));
    await page.keyboard.press('j');
    await page.keyboard.press('m');
    const args = page.getByLabel('New arguments');
    await args.fill(JSON.stringify({ path: 'CHANGES.md', find: '# Changes', replaceWith: '# What changed' }));
    await page.getByRole('button', { name: 'Approve with changes' }).click();
    // Its run goes on, and may ask its next question at once.
    await item(first ?? null).waitFor({ state: 'detached' });
    for (const other of others) await item(other).getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Deny 2…' }).click();
    await page.getByRole('button', { name: 'Deny 2', exact: true }).click();
    await page.getByRole('button', { name: 'Deny 2…' }).waitFor({ state: 'detached' });
    const answers = async () => {
      const { approvals } = given(await live.client.decisions({ status: 'answered' }));
      return approvals.map(({ decision }) => decision.resolution?.resolutionType ?? 'none').sort();
    };
    await expect.poll(answers).toEqual(expect.arrayContaining(['modify', 'reject', 'reject']));
  });

  it('[K16] a person who wants it is notified when a decision waits while the page is in the background', async () => {
    const other = await context.newPage();
    await other.addInitScript(`
      window.Notification = class { static permission = 'granted'; static requestPermission = async () => 'granted';
        constructor(title, options) { document.body.append('Rung: ' + title + ': ' + options.body); } close() {} };
      Object.defineProperty(document, 'hidden', { get: () => true });`);
    await other.goto(`${live.url}/settings#token=${live.token}`);
    await other.getByLabel('a decision needs me').check();
    await live.client.start({ file: live.plan('release'), input: { project: live.project, checks: 1 } });
    await other.getByText('Rung: A decision needs you: Change CHANGES.md').waitFor();
    await other.getByLabel('a decision needs me').uncheck();
    await other.close();
  });

  it('[K27] failures are grouped by cause, a streak is named, and all are retried at once', async () => {
    live.break();
    const runs: RunId[] = [];
    for (let parcel = 1; parcel <= 5; parcel += 1) {
      const input = { broken: live.broken, parcel };
      runs.push(given(await live.client.start({ file: live.plan('deliver'), input })).id);
    }
    await Promise.all(runs.map(run => until(run, 'failed')));
    await open('/failures');
    const group = page.getByRole('region', { name: /Nobody is at home/ });
    await group.getByText('5', { exact: true }).waitFor();
    await isShown('failed 5 times in a row');
    live.mend();
    await group.getByRole('button', { name: 'Retry all' }).click();
    await Promise.all(runs.map(run => until(run, 'completed')));
    await group.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('[K35] [K36] file changes and artifacts of a run are displayed by kind', async () => {
    const { id } = given(await live.client.start({ file: live.plan('notes'), directory: live.project }));
    await until(id, 'completed');
    await open(`/runs/${id}?tab=files`);
    const file = page.getByRole('region', { name: 'CHANGES.md' });
    await file.getByRole('cell', { name: '# All of it is new' }).waitFor();
    await file.getByRole('cell', { name: '- The export keeps its order.' }).waitFor();
    await tab('Artifacts');
    await page.getByRole('article', { name: 'Release notes' }).locator('strong').getByText('searched').waitFor();
    await open('/artifacts');
    await page.getByRole('button', { name: /Timings/ }).click();
    await page.getByRole('button', { name: 'seconds' }).click();
    const cells = page.locator('.artifact-table td:last-child');
    await expect.poll(() => cells.allTextContents()).toEqual(['9', '41', '128']);
    await page.getByRole('button', { name: /Coverage/ }).click();
    await page
      .getByRole('img', { name: 'Coverage grew over eight weeks' })
      .and(page.locator('canvas[width="96"]'))
      .waitFor();
    await page.getByRole('button', { name: /Rollout.*version 3/ }).click();
    await page.getByText('3 of 3 regions').waitFor();
    await expect.poll(() => page.locator('.artifact-list > li').count()).toBe(5);
    await page.getByLabel('all versions').check();
    await page.locator('.artifact-list > li').nth(6).waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K37] a run is forked from a frame, a key edited with a reason, a tool call undone', async () => {
    const { runs } = given(await live.client.runs({ name: 'release', status: ['completed'] }));
    const parent = runs[0]?.id as RunId;
    await open(`/runs/${parent}?frame=5`);
    await page.getByRole('button', { name: 'More actions' }).click();
    await page.getByRole('menuitem', { name: 'Fork from frame 5' }).click();
    await page.getByLabel('Run name (optional)').fill('another way');
    await page.getByLabel('Start paused').check();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    // It was published: that stays, and the person says so.
    await isShown('Action failed');
    await page.getByLabel('Continue despite effects outside').check();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('heading', { name: 'another way' }).waitFor();
    const fork = runOfPage();
    expect(given(await live.client.run(fork)).record.origin).toMatchObject({ kind: 'fork', run: parent, frame: 5 });

    await tab('State');
    await page.getByRole('button', { name: 'Edit checks' }).click();
    await page.getByLabel('Value (JSON)').fill('11');
    await page.getByLabel('Proposed').waitFor();
    const edit = page.getByRole('button', { name: 'Edit', exact: true });
    await page.getByLabel('Reason').fill('the rest is known to be sound');
    await expect.poll(() => edit.isDisabled()).toBe(true);
    await page.getByLabel('I understand that the plan continues').check();
    await edit.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(given(await live.client.state(fork)).state.checks).toBe(11);

    await open(`/runs/${parent}`);
    await page.getByRole('region', { name: 'Lineage' }).getByRole('link', { name: 'another way' }).waitFor();

    const changes = path.join(live.project, 'CHANGES.md');
    const before = '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n';
    writeFileSync(changes, before);
    const { id } = given(await live.client.start({ file: live.plan('release'), input: { project: live.project } }));
    await until(id, 'waiting');
    const { approvals } = given(await live.client.decisions({ run: id }));
    await live.client.resolve(approvals[0]?.approvalId as ApprovalId, { status: 'approved' });
    await open(`/runs/${id}?node=changelog&look=tools&tab=now`);
    await page.getByRole('button', { name: 'A tenth first' }).waitFor();
    expect(readFileSync(changes, 'utf8')).toContain('2.4.0');
    await page.getByRole('button', { name: 'Undo…' }).click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.innerText()).toContain('CHANGES.md');
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('undone').waitFor();
    await expect.poll(() => readFileSync(changes, 'utf8')).toBe(before);
  });

  it('[K90] a run is rolled back to a tool call, and the new run opens', async () => {
    const changes = path.join(live.project, 'CHANGES.md');
    const before = '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n';
    writeFileSync(changes, before);
    const { id } = given(await live.client.start({ file: live.plan('release'), input: { project: live.project } }));
    await until(id, 'waiting');
    const { approvals } = given(await live.client.decisions({ run: id }));
    await live.client.resolve(approvals[0]?.approvalId as ApprovalId, { status: 'approved' });
    await open(`/runs/${id}?node=changelog&look=tools&tab=now`);
    await page.getByRole('button', { name: 'A tenth first' }).waitFor();
    expect(readFileSync(changes, 'utf8')).toContain('2.4.0');
    await page
      .getByRole('article', { name: 'Edit CHANGES.md' })
      .getByRole('button', { name: 'Roll back to here…' })
      .click();
    const dialog = page.getByRole('dialog');
    await expect.poll(() => dialog.innerText()).toContain('CHANGES.md');
    await dialog.getByLabel('Start paused').check();
    await dialog.getByRole('button', { name: 'Roll back', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expect.poll(runOfPage).not.toBe(id);
    expect(given(await live.client.run(runOfPage())).record.origin).toMatchObject({ kind: 'fork', run: id });
    expect(given(await live.client.run(id)).record).toMatchObject({ status: 'stopped' });
    expect(readFileSync(changes, 'utf8')).toBe(before);
  });

  it('[K38] guided sessions are shown step by step, and the person’s gaps are answered there', async () => {
    const started = given(await live.guided.start({ workflowId: 'wr.bug-investigation' }));
    const needs = [{ reason: 'needs_user_account_access', summary: 'May I see the build server?' }] as const;
    const output = { notesMarkdown: NOTES, needsFromUser: [...needs] };
    given(await live.guided.continue({ stateToken: started.stateToken, ackToken: started.ackToken ?? '', output }));
    await open('/workflows');
    await page.getByRole('button', { name: /needs you/ }).click();
    const gap = page.getByRole('region', { name: 'May I see the build server?' });
    await gap.getByLabel('Your answer').fill('yes, it is on main');
    await gap.getByRole('button', { name: 'Answer' }).click();
    await gap.getByLabel('Your answer').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'This place' }).getByRole('heading').waitFor();
    await page.getByRole('button', { name: /wr\.bug-investigation/ }).click();
    await page.getByRole('article', { name: 'wr.bug-investigation' }).getByRole('listitem').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K17] the search among runs is in the address, and can be saved', async () => {
    await open('/runs');
    await page.getByRole('button', { name: /^Completed/ }).click();
    await page.getByRole('searchbox').fill('deliver');
    await page.waitForURL(/view=done&q=deliver/);
    await expect.poll(() => page.locator('.runline').count()).toBe(5);
    await page.getByRole('button', { name: 'Save view' }).click();
    await open('/runs');
    await page.getByRole('link', { name: 'done · deliver' }).click();
    await page.waitForURL(/view=done&q=deliver/);
    const items = page.locator('.runs > li');
    await items.nth(4).waitFor();
    for (const place of [0, 1]) {
      await page.keyboard.press('j');
      await items.nth(place).and(page.locator('[data-current]')).waitFor();
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/runs\/[0-9a-f-]{36}/);
  });

  it('[K29] [K76] [K156] the palette goes anywhere by name, as soon as one types, and lists the keys', async () => {
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder('Search actions').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('failu');
    await page.getByRole('option', { name: /^Failures/, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/failures/);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('next, previous', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await goTo('s', /^\/settings/);
  });

  it('[K28] times are shown as UTC, local or relative, and stay so', async () => {
    await page.getByLabel('UTC').check();
    await open('/runs');
    await page.locator('.runline-ago').first().waitFor();
    const moment = () => page.locator('.runline-ago').first().innerText();
    await expect.poll(moment).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ$/);
    await open('/settings');
    await page.getByLabel('Relative').check();
    await open('/runs');
    await page.locator('.runline-ago').first().waitFor();
    await expect.poll(moment).toMatch(/ago$/);
  });
});

describe('for everybody', () => {
  it('[K30] no page has a fault that axe knows of, in light and in dark', async () => {
    const { runs } = given(await live.client.runs());
    const [release, deliver] = ['release', 'deliver'].map(name => runs.find(({ record }) => record.name === name)?.id);
    const { approvals } = given(await live.client.decisions());
    const asked = approvals.find(({ decision }) => decision.kind === 'file_edit')?.approvalId;
    const places = [
      '/',
      `/queue?decision=${asked}`,
      '/runs',
      '/failures',
      '/artifacts',
      '/workflows?workflow=wr.bug-investigation',
      '/start',
      '/settings',
      `/runs/${deliver}?node=deliver&look=output`,
      ...['now', 'transcript', 'time', 'plan', 'state', 'events', 'files', 'artifacts'].map(
        name => `/runs/${release}?tab=${name}&node=changelog&look=tools`,
      ),
      `/runs/${release}?frame=2&node=check&look=json`,
      '/nothing',
    ];
    const faults: string[] = [];
    for (const place of places) {
      await open(place);
      await page.locator('h1').first().waitFor();
      if (place.includes('tab=plan')) await page.locator('.flow-node').first().waitFor();
      if (place.startsWith('/queue')) await page.getByLabel('Proposed').waitFor();
      faults.push(...(await faultsOf(page)).map(fault => `${place}: ${fault}`));
    }
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
