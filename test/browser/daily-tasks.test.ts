import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId, RunId } from '@signalbox/model';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, openLivePage, untilNews, untilStatus } from './live-page.ts';

/** The tasks of a day, each with the clicks that it takes. */
let at: LivePage;
let live: LiveConsole;
let page: Page;
/** A run that is over, and the one after it, which waits. */
let first: RunId;
let second: RunId;

beforeAll(async () => {
  at = await openLivePage();
  ({ live, page } = at);
  writeFileSync(path.join(live.project, 'CHANGES.md'), '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n');
  first = await start({ checks: 2 });
  const [asked] = given(await live.client.decisions({ run: first })).approvals;
  given(await live.client.resolve(asked?.approvalId as ApprovalId, { status: 'approved' }));
  await untilNews(live.client, first, news => {
    const open = news.kind === 'decisions' ? news.decisions : news.kind === 'state' ? news.snapshot.decisions : [];
    return open.some(({ decision }) => decision.node === 'rollout');
  });
  second = await start({ checks: 3 });
});
afterAll(() => at?.close());

async function start(input: object): Promise<RunId> {
  const body = { file: live.plan('release'), input: { project: live.project, ...input } };
  const { id } = given(await live.client.start(body as Parameters<typeof live.client.start>[0]));
  await untilStatus(live.client, id, 'waiting');
  return id;
}

const open = (place: string) => page.goto(`${live.url}${place}#token=${live.token}`);
const runOfPage = () => new URL(page.url()).pathname.split('/').at(-1) as RunId;

/** Clicks one after another, and says how many there were. */
async function clicks(...targets: readonly (Locator | (() => Promise<unknown>))[]): Promise<number> {
  let count = 0;
  for (const target of targets) {
    if (typeof target === 'function') await target();
    else {
      await target.click();
      count += 1;
    }
  }
  return count;
}

const more = () => page.getByRole('button', { name: 'More actions' });
const menuitem = (name: string) => page.getByRole('menuitem', { name });

/** Nothing is cut off at the sides, on a desk, a small desk and a phone. */
async function fits(): Promise<void> {
  for (const width of [1440, 1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    const over = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await page.evaluate<number>(over), `${width} px`).toBe(0);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe('the tasks of a day', () => {
  it('[K180] the run that touched a file is found with 2 clicks', async () => {
    // The index is a moment behind.
    await expect
      .poll(async () =>
        given(await live.client.find({ q: 'CHANGES.md', kind: ['file'], limit: 10 })).found.map(({ run }) => run),
      )
      .toContain(first);
    await open('/');
    const count = await clicks(
      page.getByRole('link', { name: 'Find', exact: true }),
      () => page.keyboard.type('CHANGES.md'),
      page.locator('.found-line', { hasText: 'File' }).first(),
    );
    expect(count).toBe(2);
    await page.getByRole('region', { name: 'Inspector' }).waitFor();
    expect([first, second]).toContain(runOfPage());
  });

  it('[K180] results are narrowed by chips, the search is in the address, and views are saved', async () => {
    await open('/find?q=CHANGES.md');
    await page.locator('.found-line').first().waitFor();
    await page.getByRole('button', { name: /^Files/ }).click();
    await expect.poll(() => page.locator('.found-kind').allTextContents()).not.toContain('Tool call');
    expect(new URL(page.url()).search).toContain('file');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByRole('link', { name: 'CHANGES.md · files' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await fits();
    await page.getByRole('searchbox').fill('<b>nothing</b>');
    await page.getByText('No results').waitFor();
  });

  it('[K183] a run is compared with the one before it with 2 clicks', async () => {
    await open(`/runs/${second}`);
    expect(await clicks(more(), menuitem('Compare with previous run'))).toBe(2);
    await page.getByText('Two runs of the same plan.').waitFor();
    const input = page.getByRole('region', { name: 'Input' });
    expect(await input.locator('del').textContent()).toBe('2');
    expect(await input.locator('ins').textContent()).toBe('3');
    await page.getByRole('region', { name: 'Where they part' }).getByRole('link').first().waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await fits();
  });

  it('[K183] two runs are chosen in the list, and the keyboard alone is enough', async () => {
    await open('/runs');
    await page.getByRole('button', { name: 'Compare…' }).press('Enter');
    for (const run of [second, first]) await page.locator(`[data-item="${run}"] button`).press('Enter');
    await page.getByText('Two runs of the same plan.').waitFor();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('a'), searchParams.get('b')]).toEqual([first, second]);
  });

  it('[K184] a run is forked from a frame with an edited key with 4 clicks', async () => {
    await open(`/runs/${second}`);
    const field = page.getByLabel('checks', { exact: true });
    const count = await clicks(
      more(),
      menuitem('Fork from frame'),
      field,
      () => field.fill('9'),
      page.getByRole('button', { name: 'Fork', exact: true }),
    );
    expect(count).toBe(4);
    await expect.poll(runOfPage).not.toBe(second);
    const forked = runOfPage();
    const state = async (run: RunId) => given(await live.client.state(run)).state.checks;
    await expect.poll(() => state(forked)).toBe(9);
    expect(await state(second)).toBe(3);
    await open(`/runs/${forked}`);
    await page.getByRole('link', { name: 'Compare' }).first().waitFor();
  });

  it('[K186] the same is started again with another input with 3 clicks', async () => {
    await open(`/runs/${first}`);
    const field = page.getByLabel('version (optional)');
    const count = await clicks(
      more(),
      menuitem('Start a similar run'),
      () => field.fill('3.0.0'),
      page.getByRole('button', { name: 'Start', exact: true }),
    );
    expect(count).toBe(3);
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\//);
    const started = given(await live.client.run(runOfPage()));
    expect(started.input).toMatchObject({ version: '3.0.0', checks: 2 });
  });

  it('[K186] a plan that was never run is chosen from an allowed folder, and its last input comes back', async () => {
    await open('/start');
    const plans = page.getByRole('region', { name: 'Plans in allowed folders' });
    await plans.getByRole('button', { name: /^deliver/ }).click();
    const field = page.getByLabel('parcel', { exact: false }).first();
    await page.getByLabel('broken').fill('none');
    await field.fill('77');
    await page.getByRole('button', { name: 'Start', exact: true }).click();
    await expect.poll(() => new URL(page.url()).pathname).toMatch(/^\/runs\//);
    await open('/start');
    await page
      .getByRole('region', { name: 'Known plans' })
      .getByRole('button', { name: /deliver/ })
      .click();
    await expect.poll(() => field.inputValue()).toBe('77');
    expect(await faultsOf(page)).toEqual([]);
  });

  it('[K182] the timeline is reached with the keyboard, zooms, and leads to a node', async () => {
    await open(`/runs/${first}?tab=time`);
    const timeline = page.getByRole('region', { name: 'Timeline' });
    await timeline.getByRole('button', { name: /^Check a part: worked/ }).waitFor();
    await timeline.getByRole('button', { name: 'Zoom in' }).press('Enter');
    await timeline.getByRole('button', { name: 'Show all' }).press('Enter');
    await timeline.getByRole('button', { name: /^Write the change log: worked/ }).press('Enter');
    await page.getByRole('heading', { name: 'Write the change log' }).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await fits();
    await page.locator('[data-node="checks"]').getByText('2 turns ✓').waitFor();
  });
});
