import { appendFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { verifyBundle } from '@signalbox/app/host';
import { type Client, createClient } from '@signalbox/client';
import type { ApprovalId, RunId, WireEvent } from '@signalbox/model';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, openLivePage, untilNews, untilStatus as untilStatusOf } from './live-page.ts';
import { tellsOneStory } from './story.ts';

// One browser, one server, one run and its branches: each test goes on where the one before it ended.
tellsOneStory();

/** A hostile name, as an author or a caller may write it. */
const TITLE = `<img src=x onerror="window.isBroken=true"> a round ${'with a very long name '.repeat(12)}`;
const READY = 'It is ready.\n';

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];
/** A person with a name of her own. */
let ada: { readonly client: Client; readonly token: string };
let run: RunId;
/** A branch of it. */
let fork: RunId;

beforeAll(async () => {
  at = await openLivePage();
  ({ live, page, complaints } = at);
  const { token } = given(await live.client.addUser('ada', { role: 'operator' }));
  ada = { client: createClient({ url: live.url, token }), token };
  writeFileSync(path.join(live.project, 'ANSWER.md'), 'Not yet.\n');
});
afterAll(() => at?.close());

const open = (place: string) => page.goto(`${live.url}${place}#token=${ada.token}`);
const node = (id: string) => page.locator(`[data-node="${id}"]`);
const inspector = () => page.getByRole('region', { name: 'Inspector' });
const tab = (name: string) => page.getByRole('tab', { name, exact: true }).click();
const runOfPage = () => new URL(page.url()).pathname.split('/').at(-1) as RunId;
const menu = async (name: string) => {
  await page.getByRole('button', { name: 'More actions' }).click();
  await page.getByRole('menuitem', { name }).click();
};

const untilStatus = (of: RunId, wanted: string) => untilStatusOf(live.client, of, wanted);
const untilEvent = (of: RunId, isIt: (event: WireEvent) => boolean) =>
  untilNews(live.client, of, news => news.kind === 'event' && isIt(news.stored.event), { from: 0 });

describe('a node', () => {
  it('[K45] its handlers are badges in the tree, and those that ran stand out', async () => {
    const input = { project: live.project, title: TITLE };
    run = given(await ada.client.start({ file: live.plan('review'), input })).id;
    await untilStatus(run, 'failed');
    await open(`/runs/${run}`);
    const badges = node('reviewer').locator('.handler');
    await badges.first().waitFor();
    await expect.poll(() => badges.allTextContents()).toEqual(['onFinished', 'onError']);
    await badges.and(page.locator('[data-ran=true]')).getByText('onError').waitFor();
    await expect.poll(() => badges.and(page.locator('[data-ran=true]')).count()).toBe(1);
  });

  it('[K46] the inspector has its complete input: prompt, system, tool policy, schema, props; and its signature', async () => {
    await node('reviewer').click();
    const { startedSignature = '' } = given(await live.client.nodeInput(run, 'reviewer'));
    await inspector().getByText(startedSignature).waitFor();
    await inspector().getByRole('tab', { name: 'Input' }).click();
    for (const words of [
      'Read ANSWER.md, and say whether it is ready.',
      'You review. Nothing else.',
      'Allowed: read_file.',
      '"not ready"',
      'scripted:models/review.json',
    ]) {
      await inspector().getByText(words).first().waitFor();
    }
  });

  it('[K11] names, prompts and errors are text, however long', async () => {
    await node('round').click();
    await inspector()
      .getByRole('heading', { name: /<img src=x onerror/ })
      .waitFor();
    for (const name of ['Input', 'JSON']) await inspector().getByRole('tab', { name }).click();
    await tab('Plan');
    await page.locator('.flow-node').first().waitFor();
    for (const form of ['Outline', 'XML', 'JSON']) {
      await page.getByRole('button', { name: form, exact: true }).click();
      await page.locator('.code-whole').getByText('onerror').waitFor();
    }
    await tab('Now');
    expect(await page.evaluate('window.isBroken')).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('[K47] a frame shows the volatile state that its render read, compared with the previous frame', async () => {
    const { record } = given(await live.client.run(run));
    const frames = await Promise.all(
      Array.from({ length: record.frames }, async (_, frame) => given(await live.client.state(run, frame)).volatile),
    );
    const at = frames.findIndex(volatile => volatile?.mood?.value === 'after round 2');
    await open(`/runs/${run}?frame=${at}&tab=state`);
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: /mood/ }) });
    await row.getByText('"after round 2"').waitFor();
    await expect.poll(() => row.locator('del').innerText()).toBe('"after round 1"');
  });
});

describe('actions of a person', () => {
  it('[K48] a failed node is retried with the same signature', async () => {
    const before = given(await live.client.nodeInput(run, 'reviewer'));
    writeFileSync(path.join(live.project, 'ANSWER.md'), READY);
    await open(`/runs/${run}?node=reviewer`);
    const waits = untilStatus(run, 'waiting');
    await inspector().getByRole('button', { name: 'Retry' }).click();
    await waits;
    await node('reviewer').and(page.locator('[data-status=succeeded]')).waitFor();
    const after = given(await live.client.nodeInput(run, 'reviewer'));
    expect(after.startedSignature).toBe(before.startedSignature);
    await inspector()
      .getByText(before.startedSignature ?? 'a signature')
      .waitFor();
    expect(given(await live.client.state(run)).state.verdict).toBe('ready');
  });

  it('[K49] an edit of state renders the plan again, and the record says who did it and why', async () => {
    const { frames } = given(await live.client.run(run)).record;
    await open(`/runs/${run}?tab=state`);
    await page.getByRole('button', { name: 'Edit shipping' }).click();
    await page.getByLabel('Value (JSON)').fill('"yes"');
    await page.getByLabel('Reason').fill('<b>the customer</b> waits');
    await page.getByLabel('I understand that the plan continues').check();
    const shipped = untilEvent(
      run,
      ({ type, node: of, to }) => type === 'node.status' && of === 'ship' && to === 'succeeded',
    );
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await shipped;
    await node('ship').and(page.locator('[data-status=succeeded]')).waitFor();
    const edit = given(await live.client.events(run, { from: 0, limit: 500 })).events.find(
      ({ event }) => event.type === 'state.edited',
    )?.event;
    expect(edit).toMatchObject({ key: 'shipping', by: 'ada', reason: '<b>the customer</b> waits' });
    expect(given(await live.client.run(run)).record.frames).toBeGreaterThan(frames);
    await tab('Now');
    await page.getByRole('region', { name: 'Recent activity' }).getByText('edited shipping: <b>the customer').waitFor();
    await tab('Events');
    await page.getByLabel('only actions of people').check();
    const line = page.getByRole('listitem').filter({ hasText: 'state.edited' });
    await line.getByText('by ada').waitFor();
    await expect.poll(() => line.innerText()).toContain('<b>the customer</b> waits');
    await expect.poll(() => page.getByRole('listitem').filter({ hasText: 'frame.committed' }).count()).toBe(0);
  });

  it('[K37] a fork from a frame has the state of that frame, and both runs show their relation', async () => {
    const { record } = given(await live.client.run(run));
    const states = await Promise.all(
      Array.from({ length: record.frames }, async (_, frame) => given(await live.client.state(run, frame)).state),
    );
    const at = states.findIndex(({ rounds }) => rounds === 1);
    const state = states[at];
    await open(`/runs/${run}?frame=${at}`);
    await menu(`Fork from frame ${at}`);
    await page.getByLabel('Run name (optional)').fill('another way');
    await page.getByLabel('Start paused').check();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('heading', { name: 'another way' }).waitFor();
    fork = runOfPage();
    expect(given(await live.client.state(fork)).state).toEqual(state);
    const lineage = page.getByRole('region', { name: 'Lineage' });
    await lineage.getByText(`at frame ${at}`).waitFor();
    await tab('State');
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: 'rounds' }) });
    await expect.poll(() => row.locator('pre').innerText()).toBe('1');
    await lineage.getByRole('link', { name: 'review' }).click();
    await page.waitForURL(new RegExp(`${run}.*frame=${at}`));
    await page.keyboard.press('.');
    await page.getByRole('region', { name: 'Lineage' }).getByRole('link', { name: 'another way' }).waitFor();
  });

  it('[K50] the counter of a loop is reset, by name; work has no counter', async () => {
    await open(`/runs/${run}?node=round`);
    await inspector().getByRole('button', { name: 'Retry' }).waitFor();
    await expect.poll(() => inspector().getByRole('button', { name: /Reset/ }).count()).toBe(0);
    await open(`/runs/${fork}?node=rounds`);
    await node('rounds').getByText('turn 2 of at most 5').waitFor();
    const reset = untilEvent(fork, ({ type, action, by }) => {
      return type === 'operator.acted' && action === 'reset' && by === 'ada';
    });
    await inspector()
      .getByRole('button', { name: /Reset counter/ })
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('I understand').check();
    await dialog.getByRole('button', { name: 'Reset' }).click();
    await reset;
    const waits = untilStatus(fork, 'waiting');
    await page.getByRole('button', { name: 'Resume' }).click();
    await waits;
    await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  });

  it('[K54] [V430] a node is rerun in a new run with another input, its own or the run’s, which is marked as risky and recorded', async () => {
    await open(`/runs/${run}?node=reviewer`);
    await inspector().getByRole('button', { name: 'Rerun from here…' }).click();
    const input = page.getByLabel('Input (JSON)');
    await expect.poll(() => input.inputValue()).toContain(live.project);
    await input.fill(JSON.stringify({ project: live.project, title: 'Another round' }));
    const own = page.getByLabel('Input of the node (JSON)');
    await own.fill(JSON.stringify({ ...JSON.parse(await own.inputValue()), prompt: 'Look twice.' }));
    await page.getByText('The new run continues with an input').waitFor();
    await page.getByLabel('Run name (optional)').fill('with other words');
    await page.getByLabel('Start paused').check();
    await page.getByRole('button', { name: 'Fork', exact: true }).click();
    await page.getByRole('heading', { name: 'with other words' }).waitFor();
    const rerun = runOfPage();
    expect(given(await live.client.run(rerun))).toMatchObject({ input: { title: 'Another round' } });
    const { events } = given(await live.client.events(rerun, { from: 0, limit: 100 }));
    expect(events.find(({ event }) => event.type === 'run.forked')?.event).toMatchObject({
      by: 'ada',
      node: 'reviewer',
      input: { before: { title: TITLE }, after: { title: 'Another round' } },
      nodeInput: { after: { prompt: 'Look twice.' } },
    });
  });

  it('[K51] a run is kept forever, with the person’s name, and released again', async () => {
    await open(`/runs/${run}`);
    await menu('Keep forever');
    await page.getByText('kept by').waitFor();
    expect(given(await live.client.run(run)).record.kept?.by).toBe('ada');
    await menu('Allow collection');
    await page.getByText('kept by').waitFor({ state: 'detached' });
  });
});

describe('what can be relied on', () => {
  it('[K42] a valid bundle is saved, and its run is imported and marked as such', async () => {
    const { approvals } = given(await live.client.decisions({ run }));
    const done = untilStatus(run, 'completed');
    given(await live.client.resolve(approvals[0]?.approvalId as ApprovalId, { status: 'approved' }));
    await done;
    const saving = page.waitForEvent('download');
    await menu('Export bundle');
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe(`${run}.bundle`);
    const file = path.join(live.project, 'saved.bundle');
    await saved.saveAs(file);
    const { head } = given(await live.client.run(run)).record;
    expect(given(await verifyBundle(file, head))).toMatchObject({ ok: true, runs: [{ id: run, head }] });
    const imported = given(await ada.client.importBundle({ file }));
    await open(`/runs/${imported.run}`);
    await page.getByText('This run was imported from a bundle').waitFor();
    await page.getByRole('region', { name: 'Lineage' }).getByText(run).waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K43] [K76] the record is verified, the page says that it is valid, and the focus returns', async () => {
    await open(`/runs/${run}`);
    await menu('Verify record');
    const { head } = given(await live.client.run(run)).record;
    const dialog = page.getByRole('dialog', { name: 'Verify review' });
    await dialog
      .getByRole('status')
      .getByText(/^All \d+ records are valid/)
      .waitFor();
    await dialog.getByText(head).first().waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'More actions' }).and(page.locator(':focus')).waitFor();
  });

  it('[K44] it is replayed without a model: every frame is reproduced, and nothing is spent', async () => {
    // A model that is asked now has nothing to say.
    const script = path.join(path.dirname(live.plan('review')), 'models/review.json');
    renameSync(script, `${script}.gone`);
    const spent = given(await live.client.spending({ run }));
    await open(`/runs/${run}`);
    await menu('Replay without models');
    const { frames } = given(await live.client.run(run)).record;
    const dialog = page.getByRole('dialog', { name: 'Replay review' });
    await dialog.getByRole('status').getByText(`All ${frames} frames replayed as recorded`).waitFor();
    expect(given(await live.client.spending({ run }))).toEqual(spent);
    renameSync(`${script}.gone`, script);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});

describe('for everybody', () => {
  it('[K30] no state of the page has a fault that axe knows of, in light and in dark', async () => {
    const places: readonly (readonly [place: string, dialog?: string])[] = [
      ['', 'Verify record'],
      ['', 'Replay without models'],
      ['?node=reviewer&look=input&tab=state&frame=6'],
      ['?node=rounds&tab=events&frame=4'],
      ['?node=round&look=summary'],
    ];
    const faults: string[] = [];
    for (const [place, dialog] of places) {
      await open(`/runs/${run}${place}`);
      await page.locator('h1').waitFor();
      if (dialog !== undefined) {
        await menu(dialog);
        await page.getByRole('dialog').getByRole('status').waitFor();
      }
      const found = await faultsOf(page);
      faults.push(...found.map(fault => `${place} ${dialog ?? ''}: ${fault}`));
      if (dialog === undefined) continue;
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('[K12] 420 pixels are wide enough, with names that are not', async () => {
    await page.setViewportSize({ width: 420, height: 900 });
    for (const place of ['?node=round', '?node=reviewer&look=input', '?tab=state', '?tab=events&frame=4']) {
      await open(`/runs/${run}${place}`);
      await page.locator('h1').waitFor();
      await node('round').waitFor();
      await expect
        .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: place })
        .toBeLessThanOrEqual(420);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  });
});

describe('its current state', () => {
  it('[K41] a run with collected frames says so, and what is left of them', async () => {
    const config = path.join(path.dirname(live.project), 'data', 'config.json');
    writeFileSync(config, JSON.stringify({ retention: { collapseAfterDays: 0, removeAfterDays: null } }));
    const { collapsed } = given(await ada.client.collect({}));
    rmSync(config);
    expect(collapsed.map(one => one.run)).toContain(run);
    const [gone] = given(await live.client.run(run)).record.collected ?? [];
    await open(`/runs/${run}?frame=${gone?.from}`);
    await page.locator('.run-note[data-kind=collected]').getByText('collected to save space').waitFor();
    await page.getByText(`Frame ${gone?.from} was collected`).waitFor();
    await tab('Events');
    await page.getByRole('listitem').filter({ hasText: 'frame.committed' }).first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K52] a guided run is marked as one, links to its session, and says if its journal is damaged', async () => {
    const session = given(await live.guided.start({ workflowId: 'wr.bug-investigation' }));
    expect(session.stateToken).not.toBe('');
    const [guided] = given(await live.client.runs({ kind: 'guided' })).runs;
    await open(`/runs/${guided?.id}`);
    await page.getByText('An external agent walks it').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Pause' }).count()).toBe(0);
    await page.getByRole('link', { name: /See its steps/ }).click();
    const sessionId = String(guided?.guided?.sessionId);
    await page.waitForURL(new RegExp(`/workflows\\?session=${sessionId}`));
    const manifest = path.join(path.dirname(live.project), 'data/sessions', sessionId, 'manifest.jsonl');
    appendFileSync(manifest, '{"this": "was never written by a journal"}\n');
    await open(`/runs/${guided?.id}`);
    await page.locator('.run-note[data-kind=damaged]').getByText('damaged').waitFor();
  });

  it('[K6] [A771] a run whose task failed resumes with a corrected plan', async () => {
    const file = path.join(path.dirname(live.plan('review')), 'corrected.tsx');
    const plan = (run: string) =>
      `import { definePlan, Task } from 'signalbox';\nexport default definePlan({ name: 'corrected', render: () => <Task id="work" run={() => { ${run} }} /> });\n`;
    writeFileSync(file, plan("throw new Error('a bug');"));
    const { id } = given(await ada.client.start({ file }));
    await untilStatus(id, 'failed');
    writeFileSync(file, plan(''));
    await open(`/runs/${id}`);
    const completed = untilStatus(id, 'completed');
    await menu('Resume with current plan files');
    await completed;
    rmSync(file);
  });

  it('[K13] a missing run is reported', async () => {
    await open('/runs/01890000-0000-7000-8000-00000000dead');
    await page.getByRole('alert').getByText('This run cannot be shown').waitFor();
    await page.getByRole('link', { name: 'All runs' }).waitFor();
  });
});
