import { type StorageStanding, thisMachine, withHeld } from '@signalbox/app/host';
import { type RunningServer, startServer } from '@signalbox/server';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noSessions } from '../../packages/server/test/no-sessions.ts';
import { releasePlan } from '../../packages/server/test/release-plan.ts';
import { type ScriptedHost, scriptedHost } from '../../packages/server/test/scripted-host.ts';
import { type BuiltConsole, builtConsole } from './built-console.ts';
import { newContext, sharedBrowser } from './chromium.ts';
import { begins, complaintsOf } from './live-page.ts';

const TOKEN = 'a-token-of-this-test';

let built: BuiltConsole;
let browser: Browser;
beforeAll(async () => {
  built = builtConsole();
  browser = await sharedBrowser();
  await openPage();
  await begins(page, server.url).finally(closePage);
});
afterAll(() => built.remove());

let host: ScriptedHost;
let server: RunningServer;
let context: BrowserContext;
let page: Page;
let complaints: readonly string[];

async function serve(port = 0): Promise<RunningServer> {
  const { timers } = thisMachine();
  const started = await startServer({
    host,
    token: TOKEN,
    port,
    timers,
    sessions: noSessions,
    consoleDirectory: built.directory,
  });
  if (!started.ok) throw new Error(started.error.message);
  return started.value;
}

async function openPage(): Promise<void> {
  host = scriptedHost();
  server = await serve();
  context = await newContext(browser, { viewport: { width: 1280, height: 900 } });
  page = await context.newPage();
  complaints = complaintsOf(page);
}

async function closePage(): Promise<void> {
  await context.close();
  await server.close();
}

beforeEach(openPage);
afterEach(closePage);

const open = (place = '/') => page.goto(`${server.url}${place}#token=${TOKEN}`);
/** The status of a run; a toast may have the same word. */
const status = (word: string) => page.getByRole('status').filter({ hasText: new RegExp(`^${word}$`) });
const node = (id: string) => page.locator(`[data-node="${id}"]`);
const isShown = (words: string) => page.getByText(words).first().waitFor();

describe('a full disk', () => {
  it('[K87] is shown by the briefing, with the waiting runs, and by the page of each of them', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan);
    const standing: StorageStanding = {
      status: 'full',
      message: 'The disk is full. Free some space.',
      since: '2026-01-01T00:00:00.000Z' as never,
      runs: [run.id],
      waiting: 1,
    };
    const storage = { standing: () => standing, subscribe: () => () => {} };
    await server.close();
    host = { ...host, storage, reader: withHeld(host.reader, storage.standing) };
    server = await serve();
    await open();
    const alert = page.getByRole('region', { name: 'Disk' }).getByRole('alert');
    await expect.poll(() => alert.innerText()).toMatch(/The disk is full\. Free some space\. 1 run paused/);
    await page.getByRole('region', { name: 'Disk' }).getByRole('link').click();
    await isShown('The disk is full. Free some space. The run resumes on its own');
    await status('paused').waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('entering', () => {
  it('[K1] the token comes in the fragment, is removed from the address at once and stays with the tab', async () => {
    await open();
    await isShown('No runs yet');
    await expect.poll(() => page.url()).toBe(`${server.url}/`);
    await expect
      .poll(() => page.evaluate('[sessionStorage, localStorage].map(kept => Object.values(kept))'))
      .toEqual([expect.arrayContaining([TOKEN]), expect.not.arrayContaining([TOKEN])]);
    await page.reload();
    await isShown('No runs yet');
    const other = await context.newPage();
    await other.goto(server.url);
    await other.getByLabel('Token').waitFor();
    await other.goto(`${server.url}/#token=${TOKEN}`);
    await other.getByText('No runs yet').first().waitFor();
    await other.close();
  });

  it('[K92] a one-time link lets the tab in and leaves the address; used again it says so', async () => {
    const { url: link } = server.newLink();
    await page.goto(link);
    await isShown('No runs yet');
    await expect.poll(() => page.url()).toBe(`${server.url}/`);
    expect(await page.evaluate('sessionStorage.getItem("signalbox.token")')).not.toContain(TOKEN);
    await page.reload();
    await isShown('No runs yet');
    const other = await context.newPage();
    await other.goto(link);
    await other.getByText('already used').waitFor();
    await other.getByText('signalbox link').waitFor();
    // Opened in the same tab, another one is taken too.
    await other.goto(server.newLink().url);
    await other.getByText('No runs yet').first().waitFor();
    await other.close();
    expect(complaints).toEqual([]);
  });

  it('[K1] without one the page asks for it, and asks again if it is wrong', async () => {
    await page.goto(server.url);
    await page.getByLabel('Token').fill('wrong');
    await page.keyboard.press('Enter');
    await isShown('does not know this token');
    await page.getByLabel('Token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await isShown('No runs yet');
  });
});

it('[K68] a page that cannot be loaded says so, and affects nothing else', async () => {
  const code = /\/assets\/artifacts-page/;
  await page.route(code, route => route.abort());
  await open('/artifacts');
  await page.getByRole('alert').filter({ hasText: 'This page cannot be shown' }).waitFor();
  await page.getByRole('link', { name: 'Briefing' }).waitFor();
  await page.unroute(code);
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('heading', { name: 'Artifacts' }).waitFor();
});

describe('the runs', () => {
  it('[K2] are listed newest first, live, and can be filtered', async () => {
    const first = await host.begin('first', { tags: ['nightly'] });
    await open('/runs');
    await isShown('first');
    const second = await host.begin('second');
    await isShown('second');
    const names = () => page.locator('.runline strong').allTextContents();
    await expect.poll(names).toEqual(['second', 'first']);
    await second.become('failed', { error: 'the tests failed' });
    await isShown('the tests failed');
    await first.ask('x', { cmd: 'make' });
    await isShown('1 decision');
    await page.getByRole('button', { name: /^Failed/ }).click();
    await expect.poll(names).toEqual(['second']);
    await page.getByRole('button', { name: /^Completed/ }).click();
    await isShown('No matching runs');
    expect(complaints).toEqual([]);
  });
});

it('[K2] older runs are a page away', async () => {
  for (let index = 0; index < 103; index += 1) await host.begin(`run ${index}`);
  await open('/runs');
  await isShown('run 102');
  const listed = page.getByRole('button', { name: /^All/ });
  await expect.poll(() => listed.innerText()).toBe('All 100');
  await page.getByRole('button', { name: 'Older runs' }).click();
  await listed.getByText('103').waitFor();
  await page.evaluate('document.querySelector(".runs-box").scrollTop = 1e6');
  await page.getByText('run 0', { exact: true }).waitFor();
  await expect.poll(() => page.getByRole('button', { name: 'Older runs' }).count()).toBe(0);
});

describe('a run', () => {
  it('[K3] [K77] shows its plan: kinds, labels, statuses, reasons, iterations, branches not taken, source', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'succeeded', 'gate-then': 'skipped', ship: 'skipped' });
    await run.status('review', 'blocked', 'rate_limit');
    await open(`/runs/${run.id}`);
    await node('build').waitFor();
    const names = [
      'release plan not started',
      'Make phase not started',
      'Build task succeeded',
      'Review the change claude blocked: the model is busy',
      'sign-off human not started',
      'gate if not started',
      'then branch not taken',
      'Ship it task not taken',
    ];
    for (const [place, name] of names.entries()) {
      await page.getByRole('treeitem', { name }).and(page.getByRole('treeitem').nth(place)).waitFor();
    }
    await expect.poll(() => page.getByRole('treeitem').count()).toBe(names.length);
    await expect.poll(() => node('review').innerText()).toContain('sonnet · Look at the diff.');
    await page.getByRole('article', { name: 'Review the change' }).getByText('the model is busy').waitFor();
    await node('review').click();
    await page.getByRole('tab', { name: 'Definition' }).click();
    await isShown('plans/release.tsx:8:3');
    const ink = (id: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('[data-node="${id}"] .node-label')).color`);
    expect(lightness(await ink('ship'))).toBeGreaterThan(lightness(await ink('build')));
    expect(complaints).toEqual([]);
  });

  it('[K4] its tree, state, events and status follow commits', async () => {
    const run = await host.begin('release');
    await open(`/runs/${run.id}?tab=state`);
    await isShown('Nothing rendered yet');
    await run.render(releasePlan, { build: 'running' });
    await page.locator('[data-node=build][data-status=running]').waitFor();
    await run.status('build', 'succeeded');
    await run.state('version', '2.0.0');
    await page.locator('[data-node=build][data-status=succeeded]').waitFor();
    await page.getByRole('row', { name: 'version 2.0.0' }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('listitem').filter({ hasText: 'state.changed' }).waitFor();
    await page.getByRole('tab', { name: 'Now' }).click();
    await run.render({ ...releasePlan, children: [{ id: 'again', kind: 'while', data: { maxIterations: 5 } }] });
    await node('build').waitFor({ state: 'detached' });
    await run.loop('again', 2);
    await run.become('completed');
    await isShown('completed');
    await isShown('turn 3 of at most 5');
    await isShown('"done": true');
    await expect.poll(() => page.locator('.phases [aria-current]').innerText()).toBe('DONE');
    expect(complaints).toEqual([]);
  });

  it('[K5] a decision is answered with the keyboard alone, and the answer carries the hash of what was shown', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { review: 'blocked' });
    await open(`/runs/${run.id}`);
    await node('review').waitFor();
    const decision = await run.ask('review', { tool: 'bash', args: { cmd: 'make deploy' }, reason: 'it is ready' });
    const card = page.getByRole('article', { name: 'Review the change wants to run a command' });
    await card.waitFor();
    await expect.poll(() => card.innerText()).toContain('make deploy');
    const isFocused = async () =>
      (await card.getByRole('button', { name: 'Approve' }).and(page.locator(':focus')).count()) === 1;
    for (let presses = 0; !(await isFocused()); presses += 1) {
      expect(presses).toBeLessThan(40);
      await page.keyboard.press('Tab');
    }
    await page.keyboard.press('Enter');
    const answered = await run.answered(decision.id);
    expect(answered).toMatchObject({
      status: 'answered',
      answeredBy: 'operator',
      resolution: { resolutionType: 'approve' },
    });
    await card.waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });

  it('[K5] a choice offers its options, and a question takes a value', async () => {
    const run = await host.begin('release');
    const options = [{ id: 'publish' }, { id: 'revise', label: 'write it anew' }];
    const choice = await run.ask('a', { prompt: 'Publish this?', options }, 'choice');
    await open(`/runs/${run.id}`);
    await isShown('Publish this?');
    await page.getByLabel('Reason').fill('too short');
    await page.getByRole('button', { name: 'write it anew' }).click();
    expect((await run.answered(choice.id)).resolution).toEqual({
      resolutionType: 'choose_option',
      chosenOptionId: 'revise',
      rationale: 'too short',
      actionKind: 'review',
    });
    const question = await run.ask('b', { prompt: 'How many?', schema: { type: 'number' } }, 'human');
    const answer = page.getByLabel('Answer (JSON)');
    await answer.fill('seven');
    await isShown('Invalid JSON');
    await expect.poll(() => page.getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);
    await answer.fill('7');
    await page.getByRole('button', { name: 'Answer' }).click();
    expect((await run.answered(question.id)).resolution).toMatchObject({ resolutionType: 'approve', value: 7 });
  });

  it('[K5] an answer to another proposal than the shown one is refused, and the page says so', async () => {
    const run = await host.begin('release');
    const decision = await run.ask('review', { cmd: 'make test' });
    await open(`/runs/${run.id}`);
    const deny = page.getByRole('button', { name: 'Deny' });
    await deny.waitFor();
    // The page sends what it was shown before the proposal changed.
    await page.route('**/resolve', async route => {
      await run.propose(decision, { cmd: 'make deploy' });
      await route.continue();
    });
    await deny.click();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await isShown('about something else by now');
    expect((await host.store.decision(decision.id))?.decision.status).toBe('open');
  });

  it('[K6] is paused, resumed and stopped; failures are shown', async () => {
    const run = await host.begin('release');
    await open(`/runs/${run.id}`);
    await page.getByRole('button', { name: 'Pause' }).click();
    await status('paused').waitFor();
    await page.getByRole('button', { name: 'Resume' }).click();
    await status('working').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await status('stopped').waitFor();
    await isShown('an operator asked for it');
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    const late = await host.begin('late');
    await page.goto(`${server.url}/runs/${late.id}`);
    const pause = page.getByRole('button', { name: 'Pause' });
    await pause.waitFor();
    await page.route('**/pause', async route => {
      await late.become('completed');
      await route.continue();
    });
    await pause.click();
    await isShown('has ended');
  });

  it('[K6] a node that does work is retried or canceled', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'failed', review: 'running' });
    await open(`/runs/${run.id}`);
    await node('make').click();
    await expect.poll(() => page.getByRole('button', { name: /Retry|Cancel/ }).count()).toBe(0);
    await node('build').click();
    await page.getByRole('button', { name: 'Retry' }).click();
    await node('review').click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('listitem').filter({ hasText: 'action cancel' }).waitFor();
    expect(host.acted.map(({ action }) => action)).toEqual([
      { kind: 'retry', node: 'build' },
      { kind: 'cancel', node: 'review' },
    ]);
  });

  it('[K7] reconnects after the server was away, says so meanwhile, and misses nothing', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    await open(`/runs/${run.id}?tab=state`);
    await node('build').waitFor();
    await server.close();
    await isShown('Reconnecting');
    await run.status('build', 'succeeded');
    await run.state('while', 'away');
    server = await serve(server.port);
    await page.locator('[data-node=build][data-status=succeeded]').waitFor();
    await page.getByText('Reconnecting').first().waitFor({ state: 'detached' });
    await run.state('after', 1);
    await page.getByRole('row', { name: 'after' }).waitFor();
    await page.getByRole('tab', { name: 'Events' }).click();
    await page.getByRole('listitem').filter({ hasText: 'key after' }).waitFor();
    const { nextSeq = 0 } = (await host.store.run(run.id)) ?? {};
    await expect
      .poll(() => page.locator('.events li > :first-child').allTextContents())
      .toEqual(Array.from({ length: nextSeq }, (_, index) => String(index)));
  });

  it('[K9] earlier frames can be viewed, with the keyboard too', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    await run.state('turn', 1);
    await run.render({ ...releasePlan, children: [] });
    await run.state('turn', 2);
    await open(`/runs/${run.id}?tab=state`);
    await page.getByRole('row', { name: 'turn 2' }).waitFor();
    await page.getByRole('slider').focus();
    await page.keyboard.press('ArrowLeft');
    await isShown('in frame 0');
    await node('build').waitFor();
    await isShown('No state yet');
    await page.getByRole('button', { name: 'Back to now' }).click();
    await node('build').waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'turn 2' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('[K10] agent output is shown live, with what came before', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { review: 'running' });
    const task = await run.startTask('review');
    await run.say(task, 'I look ', 'at the diff.');
    await open(`/runs/${run.id}`);
    const speech = page.getByRole('article', { name: 'Review the change' });
    await speech.getByText('I look at the diff.').waitFor();
    await run.say(task, ' It is', ' fine.');
    await speech.getByText('I look at the diff. It is fine.').waitFor();
    await run.endTask(task);
    await speech.waitFor({ state: 'detached' });
  });

  it('[K11] nothing that an agent or a plan writes is rendered as markup, and no policy is violated', async () => {
    const run = await host.begin('<img src=x onerror=alert(1)>');
    const evil = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>';
    await run.render({
      id: 'root',
      kind: 'plan',
      data: { name: evil },
      children: [{ id: 'a', kind: 'claude', data: { label: evil, prompt: evil } }],
    });
    await run.status('a', 'blocked', evil);
    const task = await run.startTask('a');
    await run.say(task, evil);
    await run.ask('a', { tool: evil, args: { [evil]: evil }, reason: evil });
    await run.state(evil, { [evil]: evil });
    await open(`/runs/${run.id}`);
    const speech = page.locator('.work pre');
    await speech.waitFor();
    await expect.poll(() => speech.innerText()).toBe(evil);
    await node('a').click();
    for (const tab of ['Input', 'Output', 'Tools', 'Logs', 'JSON', 'Definition', 'Plan', 'Events', 'State']) {
      await page.getByRole('tab', { name: tab }).click();
    }
    await page.locator('.state pre').waitFor();
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(await page.title()).not.toContain('owned');
    expect(complaints).toEqual([]);
  });

  it('[K12] the tree is walked with the arrow keys', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan);
    await open(`/runs/${run.id}`);
    await node('root').focus();
    const leads = async (keys: readonly string[], id: string) => {
      for (const key of keys) await page.keyboard.press(key);
      await expect.poll(() => page.evaluate('document.activeElement.dataset.node')).toBe(id);
    };
    await leads(['ArrowDown', 'ArrowDown'], 'build');
    await leads(['ArrowLeft'], 'make');
    await leads(['ArrowLeft', 'ArrowDown'], 'sign-off');
    await expect.poll(() => node('build').count()).toBe(0);
    await leads(['ArrowUp', 'ArrowRight', 'ArrowRight'], 'build');
    await leads(['End'], 'ship');
    await leads(['Home'], 'root');
    await expect.poll(() => page.locator('[role=treeitem][tabindex="0"]').count()).toBe(1);
  });

  it('[K12] everything that can be used has a name, in dark and in light, on a small screen too', async () => {
    const run = await host.begin('release');
    await run.render(releasePlan, { build: 'running' });
    await run.ask('review', { cmd: 'make' });
    await page.setViewportSize({ width: 420, height: 800 });
    for (const scheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await open(`/runs/${run.id}`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      const nameless = await page.evaluate<number>(
        `[...document.querySelectorAll('button:not([aria-hidden]), a, input')].filter(
          item => ((item.getAttribute('aria-label') ?? '') + item.textContent).trim() === '').length`,
      );
      expect(nameless).toBe(0);
      await expect.poll(() => page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      const [ground, ink] = await page.evaluate<[string, string]>(
        '[getComputedStyle(document.documentElement).backgroundColor, getComputedStyle(document.documentElement).color]',
      );
      expect(lightness(ground) < lightness(ink)).toBe(scheme === 'dark');
    }
  });

  it('[K12] every text has a contrast of at least 4.5 to 1', async () => {
    const pairs = [
      ...['ink', 'muted', 'faint', 'working', 'waiting', 'done', 'failed'].flatMap(ink =>
        ['ground', 'surface'].map(ground => [ink, ground]),
      ),
      ...['working', 'waiting', 'done', 'failed'].flatMap(name =>
        ['ink', 'muted', 'faint', name].map(ink => [ink, `${name}-wash`]),
      ),
      ...['working', 'waiting', 'done', 'failed'].map(name => ['on-signal', name]),
    ];
    const probe = (name: string) =>
      `(() => { const probe = document.body.appendChild(document.createElement('i')); probe.style.color = 'var(--${name})';
        const { color } = getComputedStyle(probe); probe.remove(); return color; })()`;
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      await open();
      const weak: string[] = [];
      for (const [ink = '', ground = ''] of pairs) {
        const ratio = contrast(await page.evaluate<string>(probe(ink)), await page.evaluate<string>(probe(ground)));
        if (!(ratio >= 4.5)) weak.push(`${ink} on ${ground}: ${ratio.toFixed(2)}`);
      }
      expect({ colorScheme, weak }).toEqual({ colorScheme, weak: [] });
    }
  });

  it('[K13] that does not exist is said to be unknown; so is a page', async () => {
    await open('/runs/01890000-0000-7000-8000-00000000dead');
    await isShown('There is no run');
    await open('/nothing');
    await isShown('Page not found');
    await page.getByRole('link', { name: 'See all runs' }).click();
    await isShown('No runs yet');
  });
});

/** Of a colour as the browser computes it: `lab(L a b)`. */
function lightness(colour: string): number {
  return Number(/^lab\(([\d.]+)/.exec(colour)?.[1]);
}

/** As WCAG has it; the first number of `lab` is all it needs. */
function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(colour => ((lightness(colour) + 16) / 116) ** 3).sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}
