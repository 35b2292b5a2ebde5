import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ApprovalId, RunId } from '@signalbox/model';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { given } from '../given.ts';
import type { LiveConsole } from './live-console.ts';
import { faultsOf, type LivePage, LOST, openLivePage, untilSummary } from './live-page.ts';

// What goes wrong on a day: somebody else was faster, the line breaks, a link is old, and texts are not what one expects.

let at: LivePage;
let live: LiveConsole;
let page: Page;
let complaints: readonly string[];

beforeAll(async () => {
  at = await openLivePage(LOST);
  ({ live, page, complaints } = at);
});
afterAll(() => at?.close());

const open = (place: string, on: Page = page) => on.goto(`${live.url}${place}#token=${live.token}`);
const desk = (on: Page = page) => on.getByRole('article');
const NOBODY = '01a1f1e2-fb92-7445-ba69-000000000001';
const LONG = `${'W'.repeat(120)} שלום 👩‍💻 <b>bold</b>`;
const fits = () => page.evaluate('document.documentElement.scrollWidth <= innerWidth');

/** A run of the release plan whose agent asks before it writes. */
async function asking(name?: string): Promise<{ run: RunId; decision: ApprovalId }> {
  writeFileSync(path.join(live.project, 'CHANGES.md'), '# Changes\n\n## 2.3.1\n\n- The export keeps its order.\n');
  const input = { project: live.project, checks: 1 };
  const { id: run } = given(await live.client.start({ file: live.plan('release'), input, ...(name && { name }) }));
  await untilSummary(live.client, run, ({ openDecisions }) => openDecisions === 1);
  const { approvals } = given(await live.client.decisions({ run, status: 'open' }));
  return { run, decision: approvals[0]?.approvalId as ApprovalId };
}

async function answerOf(run: RunId, id: ApprovalId): Promise<string | undefined> {
  const { approvals } = given(await live.client.decisions({ run, status: 'answered' }));
  return approvals.find(one => one.approvalId === id)?.decision.resolution?.resolutionType;
}

describe('two pages', () => {
  it('[K203] answer the same decision: the second is told, and answers no other decision', async () => {
    const first = await asking();
    const other = await asking();
    await open(`/queue?decision=${first.decision}`);
    const second = await at.context.newPage();
    // The second answer is on its way while the first arrives.
    const { promise: isFirstAnswered, resolve: answered } = Promise.withResolvers<void>();
    await second.route('**/api/**', async route => {
      if (route.request().method() === 'POST') await isFirstAnswered;
      await route.continue();
    });
    await open(`/queue?decision=${first.decision}`, second);
    await desk(second).getByRole('button', { name: 'Deny…' }).click();
    const reason = desk(second).getByRole('textbox', { name: /^Reason/ });
    await reason.fill('No.');
    await reason.press('Enter');
    await desk().getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => answerOf(first.run, first.decision)).toBe('approve');
    answered();
    await second
      .getByRole('status')
      .getByText(/^Your answer to “.*” was not accepted/)
      .waitFor();
    expect(await answerOf(first.run, first.decision)).toBe('approve');
    const { approvals } = given(await live.client.decisions({ run: other.run, status: 'open' }));
    expect(approvals.map(({ approvalId }) => approvalId)).toEqual([other.decision]);
    expect(await faultsOf(second)).toEqual([]);
    await second.close();
  });
});

describe('a line that breaks', () => {
  it('[K206] [K7] in the middle of an answer: it is said, and the answer given again counts once', async () => {
    const { run, decision } = await asking();
    await open(`/queue?decision=${decision}`);
    const approve = desk().getByRole('button', { name: 'Approve' });
    await approve.waitFor();
    const isAnswer = (url: URL) => url.pathname.startsWith('/api/') && url.pathname.includes(decision);
    await page.route(isAnswer, route => route.abort('connectionreset'));
    await approve.click();
    await desk().getByText('Answer not accepted').waitFor();
    expect(await answerOf(run, decision)).toBeUndefined();
    await page.unroute(isAnswer);
    await approve.click();
    await expect.poll(() => answerOf(run, decision)).toBe('approve');
  });

  it('[K207] while a transcript is read: it says so, and stays as it was read before', async () => {
    const { run, decision } = await asking();
    const isStream = (url: URL) => url.pathname.includes('/stream/');
    await page.route(isStream, route => route.fulfill({ status: 500, json: {} }));
    await open(`/runs/${run}?node=changelog`);
    await page.getByText('Could not load the transcript').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.unroute(isStream);
    await page.reload();
    const transcript = page.getByRole('region', { name: 'Transcript' });
    await transcript.getByText('I look at the change log as it is.').waitFor();
    const refused = page.waitForResponse(answer => isStream(new URL(answer.url())) && answer.status() === 500);
    await page.route(isStream, route => route.fulfill({ status: 500, json: {} }));
    given(await live.client.resolve(decision, { status: 'approved' }));
    await refused;
    await page.locator('[data-node="rollout"][data-status="blocked"]').waitFor();
    await transcript.getByText('I look at the change log as it is.').waitFor();
    await page.unroute(isStream);
  });

  it('[K31] a page that was open while the server restarted answers the decision it shows', async () => {
    const { run, decision } = await asking();
    await open(`/queue?decision=${decision}`);
    await desk().getByRole('button', { name: 'Approve' }).waitFor();
    await live.stop();
    await page.getByText('Reconnecting: the server does not answer').first().waitFor();
    await live.start();
    await page.getByText('Reconnecting: the server does not answer').first().waitFor({ state: 'detached' });
    await desk().getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => answerOf(run, decision)).toBe('approve');
  });
});

describe('a link', () => {
  it('[K204] to what is not there says so, and breaks nothing', async () => {
    const { run, decision } = await asking();
    const places: readonly (readonly [place: string, says: RegExp])[] = [
      [`/queue?decision=${NOBODY}`, /The decision of this link was answered, or does not exist/],
      ['/runs/not-an-id', /Page not found/],
      [`/runs/${NOBODY}`, /This run cannot be shown/],
      [`/runs/${run}?node=nobody&look=nothing&tab=nowhere`, /Choose a node of the plan/],
      [`/runs/${run}?frame=99999`, /Frame/],
      [`/compare?a=${NOBODY}&b=${run}`, /Could not compare these runs/],
      ['/compare?a=x&b=y', /Choose two runs/],
      ['/find?q=x&kinds=secret&since=never', /No results/],
      [`/artifacts?at=${NOBODY}`, /Artifacts/],
      [`/workflows?session=${NOBODY}`, /Workflows/],
      ['/workflows?workflow=wr.nothing', /Could not load this workflow/],
      [`/start?like=${NOBODY}`, /Start a run/],
      [`/find?q=${encodeURIComponent('"unclosed')}&kinds=secret&run=x`, /No results|Search failed/],
      ['/nothing/here', /Page not found/],
    ];
    for (const [place, says] of places) {
      await open(place);
      await page.locator('main').getByText(says).first().waitFor();
      expect(await page.getByText('This page cannot be shown').count(), place).toBe(0);
    }
    await open(`/queue?decision=${NOBODY}`);
    expect(await faultsOf(page)).toEqual([]);
    // The link to one that waits says nothing of the kind, also after it was answered here.
    await open(`/queue?decision=${decision}`);
    await desk().getByRole('button', { name: 'Approve' }).click();
    await expect.poll(() => answerOf(run, decision)).toBe('approve');
    expect(await page.getByText('The decision of this link').count()).toBe(0);
  });

  it('[K19] back and forward lead through the pages that were seen', async () => {
    const { run } = await asking();
    await open('/');
    await page.getByRole('heading', { name: 'Briefing' }).waitFor();
    await page.getByRole('link', { name: /^Runs/ }).first().click();
    await page.locator(`[data-item="${run}"]`).getByRole('link').first().click();
    await page.locator('[data-node="changelog"]').click();
    await page.waitForURL(/node=changelog/);
    await page
      .getByRole('link', { name: /^Queue/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Queue', exact: true }).waitFor();
    const seen: string[] = [];
    for (let step = 0; step < 3; step += 1) {
      await page.goBack();
      seen.push(new URL(page.url()).pathname);
    }
    expect(seen).toEqual([`/runs/${run}`, '/runs', '/']);
    await page.getByRole('heading', { name: 'Briefing' }).waitFor();
    await page.goForward();
    await page.goForward();
    await page.getByRole('region', { name: 'Transcript' }).waitFor();
  });
});

describe('texts that nobody expects', () => {
  it('[K12] [K60] long names, other scripts and markup fit every page, wide and narrow', async () => {
    const { run, decision } = await asking(LONG);
    const places = [
      ...['/', `/queue?decision=${decision}`, '/runs', `/runs/${run}`, `/runs/${run}?node=changelog`],
      ...[`/compare?b=${run}`, `/start?like=${run}`, '/failures', '/workflows'],
    ];
    for (const [width, height] of [
      [390, 844],
      [1280, 800],
    ] as const) {
      await page.setViewportSize({ width, height });
      for (const place of places) {
        await open(place);
        await page.locator('main h1').first().waitFor();
        await expect.poll(fits, { message: `${place} at ${width}` }).toBe(true);
        expect(await page.locator('main b', { hasText: /^bold$/ }).count(), place).toBe(0);
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await open(`/runs/${run}`);
    await page.locator('[data-node="changelog"]').waitFor();
    for (const [key, title] of [
      ['f', /^Fork from frame/],
      ['Control+k', /^Commands$/],
      ['?', /^Keys$/],
    ] as const) {
      await page.keyboard.press(key);
      await page.getByRole('dialog', { name: title }).waitFor();
      expect(await fits()).toBe(true);
      expect(await faultsOf(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    expect(complaints.filter(text => !text.includes('404 (Not Found)'))).toEqual([]);
  });
});
