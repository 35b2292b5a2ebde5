/**
 * The console in Chromium next to an empty React page, one JSON line a figure. Build it first: `npm run build`.
 *
 *   node bench/console.ts [part ...] [--rounds N]        parts: size open scrub transcript
 *
 * size     what the first load takes, in bytes of JavaScript after gzip
 * open     the page of a run with 10,000 frames and 5,000 nodes, until it answers to a click, next to a page of React that shows
 *          one button
 * scrub    the longest that the page stands still while the slider passes the frames of that run, and the longest that its own
 *          work takes at a stretch, which a machine that is busy with something else does not change as much
 * transcript  an agent's transcript of 2,000 messages, until the first is drawn, and the longest frame while it is scrolled to its end
 *
 * Next to the clock, each has the time that the page's main thread spent on a processor (tasks, scripts, layout), which a busy machine
 * changes less. The load of the machine is printed first.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { type Machine, openHome, openOwnedStore, thisMachine } from '@signalbox/app/host';
import type { RunId, Timestamp } from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { at, frame, hashOf, interval, key, newRun, set, startRun, task } from '../packages/runs/test/builders.ts';
import { launchBrowser, newContext } from '../test/browser/chromium.ts';

const FRAMES = 10_000;
const NODES = 5_000;
const MESSAGES = 2_000;
const TOKEN = 'a-token-of-this-bench';
const dist = fileURLToPath(new URL('../packages/console/dist/', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' } },
});
const rounds = Number(values.rounds);
const wanted = (part: string) => positionals.length === 0 || positionals.includes(part);

process.stdout.write(`${JSON.stringify({ load: loadavg().map(Math.round), processors: availableParallelism() })}\n`);
if (wanted('size')) benchSize();
if (wanted('open') || wanted('scrub')) await withPages(benchPages);
if (wanted('transcript')) await withPages(benchTranscript);

/** The page, what it loads at once, and what the first page of all loads. */
function benchSize(): void {
  const assets = path.join(dist, 'assets');
  const page = readFileSync(path.join(dist, 'index.html'), 'utf8');
  const named = [...page.matchAll(/assets\/([\w.-]+\.js)/g)].map(([, name = '']) => name);
  const first = readdirSync(assets).filter(name => name.startsWith('briefing-page-'));
  const loaded = new Set<string>();
  const take = (name: string): void => {
    if (loaded.has(name)) return;
    loaded.add(name);
    const code = readFileSync(path.join(assets, name), 'utf8');
    for (const [, next = ''] of code.matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g)) take(next);
  };
  for (const name of [...named, ...first]) take(name);
  const bytes = [...loaded].reduce((sum, name) => sum + gzipSync(readFileSync(path.join(assets, name))).length, 0);
  goal('first load, kB of JavaScript after gzip', bytes / 1000, 200, { files: loaded.size });
}

async function benchTranscript({ browser, run, empty }: Pages): Promise<void> {
  const opened: number[] = [];
  const scrolled: number[] = [];
  const floors: number[] = [];
  const works: Work[] = [];
  const place = run.replace('#', '?node=writer#');
  for (let round = 0; round <= rounds; round += 1) {
    const page = await newPage(browser);
    const floor = await timed(async () => {
      await page.goto(empty);
      await page.getByRole('button', { name: 'pressed 0' }).waitFor();
    });
    const box = page.getByRole('region', { name: 'Transcript' });
    const worked = await workOf(page);
    const own = await timed(async () => {
      await page.goto(place);
      await box.getByText('This is message 0.').waitFor();
    });
    const work = await worked();
    const longest = await page.evaluate<number>(`new Promise(resolve => {
      const box = document.querySelector('.transcript-box');
      let last = performance.now(), longest = 0, step = 0;
      const tick = now => {
        longest = Math.max(longest, now - last);
        last = now;
        box.scrollTop = (step / 120) * (box.scrollHeight - box.clientHeight);
        if (step++ < 120) requestAnimationFrame(tick); else resolve(longest);
      };
      requestAnimationFrame(tick);
    })`);
    await box.getByText(`This is message ${MESSAGES - 1}.`).waitFor();
    // The first round warms the server and the disk.
    if (round > 0) {
      works.push(work);
      floors.push(floor);
      opened.push(own);
      scrolled.push(longest);
    }
    await page.context().close();
  }
  goal('a transcript of 2,000 messages is open, ms', median(opened), 1_000, {
    emptyReactPage: Math.round(median(floors)),
    longestFrameWhileScrolling: Math.round(median(scrolled)),
    ...medianWork(works),
  });
}

/** A page that has time: how long it takes is measured, not demanded. */
async function newPage(browser: Browser): Promise<Page> {
  return (await newContext(browser, { viewport: { width: 1440, height: 900 } })).newPage();
}

/** Milliseconds of a processor that the page's main thread took. */
interface Work {
  readonly tasks: number;
  readonly scripts: number;
  readonly layout: number;
}

/** From now until it is asked. */
async function workOf(page: Page): Promise<() => Promise<Work>> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const of = (wanted: string) => (metrics.find(({ name }) => name === wanted)?.value ?? 0) * 1000;
    return { tasks: of('TaskDuration'), scripts: of('ScriptDuration'), layout: of('LayoutDuration') };
  };
  const from = await read();
  return async () => {
    const to = await read();
    return { tasks: to.tasks - from.tasks, scripts: to.scripts - from.scripts, layout: to.layout - from.layout };
  };
}

function medianWork(works: readonly Work[]): Work {
  const of = (name: keyof Work) => Math.round(median(works.map(work => work[name])));
  return { tasks: of('tasks'), scripts: of('scripts'), layout: of('layout') };
}

interface Pages {
  readonly browser: Browser;
  /** The address of the run. */
  readonly run: string;
  /** The address of the page with one button. */
  readonly empty: string;
}

async function benchPages({ browser, run, empty }: Pages): Promise<void> {
  const opened: number[] = [];
  const floors: number[] = [];
  const works: Work[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const page = await newPage(browser);
    const floor = await timed(async () => {
      await page.goto(empty);
      await page.getByRole('button', { name: 'pressed 0' }).click();
      await page.getByRole('button', { name: 'pressed 1' }).waitFor();
    });
    const worked = await workOf(page);
    const own = await timed(async () => {
      await page.goto(run);
      await page.locator('[data-node="task-0"]').click();
      await page.getByRole('heading', { name: 'Task 0' }).waitFor();
    });
    // The first round warms the server and the disk.
    if (round > 0) {
      works.push(await worked());
      floors.push(floor);
      opened.push(own);
    }
    if (round === rounds && wanted('scrub')) await benchScrub(page, empty);
    await page.context().close();
  }
  if (!wanted('open')) return;
  goal('a run with 10,000 frames and 5,000 nodes is open, ms', median(opened), 1_500, {
    emptyReactPage: Math.round(median(floors)),
    ...medianWork(works),
  });
}

async function benchScrub(page: Page, empty: string): Promise<void> {
  await page.getByText(`of ${FRAMES} in total`).waitFor();
  // Everything older is read by now: the slider begins at the first frame.
  await page.locator('input[type=range][min="0"]').waitFor();
  const box = await page.getByRole('slider').boundingBox();
  if (box === null) throw new Error('there is no slider');
  const at = (share: number) => [box.x + 6 + (box.width - 12) * share, box.y + box.height / 2] as const;
  const drag = async (): Promise<Standstill> => {
    await page.evaluate(`
      window.standstill = { frame: 0, task: 0 };
      { const mine = window.standstill;
        let last = performance.now();
        const tick = now => { mine.frame = Math.max(mine.frame, now - last); last = now; requestAnimationFrame(tick); };
        requestAnimationFrame(tick);
        new PerformanceObserver(list => {
          for (const { duration } of list.getEntries()) mine.task = Math.max(mine.task, duration);
        }).observe({ type: 'longtask' }); }`);
    await page.mouse.move(...at(1));
    await page.mouse.down();
    for (let step = 0; step <= 200; step += 1) await page.mouse.move(...at(Math.abs(1 - step / 100)));
    await page.mouse.move(...at(0.5));
    await page.mouse.up();
    return page.evaluate<Standstill>('window.standstill');
  };
  const dragged: Standstill[] = [];
  for (let round = 0; round < rounds; round += 1) {
    dragged.push(await drag());
    await page.getByText(/in frame (4|5)\d{3}/).waitFor();
    await page.keyboard.press('.');
    await page.getByText('following').waitFor();
  }
  await page.goto(empty);
  const floors: Standstill[] = [];
  for (let round = 0; round < rounds; round += 1) floors.push(await drag());
  goal('the longest frame of the browser while scrubbing, ms', median(dragged.map(({ frame: ms }) => ms)), 100, {
    emptyReactPage: Math.round(median(floors.map(({ frame: ms }) => ms))),
    longestTask: Math.round(median(dragged.map(({ task }) => task))),
  });
}

/** Milliseconds; a task that is shorter than 50 is none. */
interface Standstill {
  readonly frame: number;
  readonly task: number;
}

async function withPages(work: (pages: Pages) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-bench-'));
  const machine = thisMachine();
  const run = await longRun(folder, machine);
  const home = await openHome({ dataDirectory: folder, machine, env: {} });
  if (!home.ok) throw new Error(home.error.message);
  const { timers } = machine;
  const server = await startServer({ host: home.value.host, token: TOKEN, port: 0, timers, consoleDirectory: dist });
  if (!server.ok) throw new Error(server.error.message);
  const floor = await emptyReactPage();
  const browser = await launchBrowser();
  try {
    await work({ browser, run: `${server.value.url}/runs/${run}#token=${TOKEN}`, empty: floor.url });
  } finally {
    await browser.close();
    await server.value.close();
    await home.value.close();
    floor.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A run as the store keeps it: a first frame with all its nodes, then frames in each of which a node and a key change. */
async function longRun(dataDirectory: string, machine: Machine): Promise<RunId> {
  const owned = openOwnedStore(dataDirectory, machine);
  if (!owned.ok) throw new Error(owned.error.message);
  const { store } = owned.value;
  const now = () => new Date().toISOString() as Timestamp;
  const writer = await startRun(
    { commit: (given, guard) => store.commit({ ...given, at: now() }, guard) },
    newRun({ name: 'a long run' }),
    machine.ids.mint<RunId>(),
  );
  const source = { file: '/plans/long.tsx', line: 7, column: 3 };
  const phases = 50;
  const rows = [
    { id: 'root', kind: 'plan', index: 0, source, data: { name: 'a long run' } },
    ...Array.from({ length: phases }, (_, index) => ({
      id: `phase-${index}`,
      kind: 'phase',
      parent: 'root',
      index,
      source,
      data: { name: `Phase ${index}` },
    })),
    {
      id: 'writer',
      kind: 'agent',
      parent: 'phase-0',
      index: NODES,
      source,
      data: { label: 'Writer', prompt: 'Write.' },
    },
    ...Array.from({ length: NODES - phases - 1 }, (_, index) => ({
      id: `task-${index}`,
      kind: 'task',
      parent: `phase-${index % phases}`,
      index: Math.floor(index / phases),
      source,
      data: { label: `Task ${index}`, retries: 3 },
    })),
  ];
  for (let index = 0; index < FRAMES; index += 1) {
    const trigger = { kind: index === 0 ? 'start' : 'task', keys: ['done'] } as const;
    await writer.write({
      at: now(),
      ...(index === 0 && { run: { kind: 'change', change: { phase: 'EXECUTE' } } }),
      frame: frame(index, { at: now(), trigger, mounted: index === 0 ? rows.map(({ id }) => key(id)) : [] }),
      intervals: [
        ...(index === 0 ? rows.map(({ id, ...row }) => interval('node', id, 0, set(row))) : []),
        interval('status', `task-${index % (NODES - phases - 1)}`, index, set({ status: 'succeeded', iteration: 0 })),
        interval('state', 'done', index, set(index)),
      ],
      events: [
        {
          type: 'frame.committed',
          frame: index,
          trigger,
          mounted: 0,
          unmounted: 0,
          digest: hashOf(index),
        },
      ],
    });
  }
  const work = task(writer.run, { node: key('writer'), status: 'running', startedAt: at(1) });
  await writer.write({ at: now(), tasks: [work] });
  const usage = { inputTokens: 900, outputTokens: 40, costMicroUsd: 120, wallMs: 800 };
  const message = (index: number) => ({
    ...{ v: 1, kind: 'assistant', usage },
    content: [{ type: 'text', text: `This is message ${index}.\n\n- one **thing**\n- another \`thing\`` }],
  });
  for (let from = 0; from < MESSAGES; from += 100) {
    const stream = Array.from({ length: 100 }, (_, offset) => ({
      ...{ task: work.id, index: from + offset, kind: 'message' as const, payload: message(from + offset), at: now() },
    }));
    await writer.write({ at: now(), stream });
  }
  await writer.write({ at: now(), tasks: [{ ...work, status: 'done', endedAt: at(2), result: 'written' }] });
  owned.value.close();
  return writer.run;
}

/** A page of React that shows a button: what any page of it takes. */
async function emptyReactPage(): Promise<{ readonly url: string; close(): void }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-bench-'));
  const entry = path.join(folder, 'main.js');
  writeFileSync(
    entry,
    `import { createElement, useState } from 'react';
     import { createRoot } from 'react-dom/client';
     function Button() {
       const [count, setCount] = useState(0);
       return createElement('button', { onClick: () => setCount(count + 1) }, 'pressed ' + count);
     }
     createRoot(document.getElementById('root')).render(createElement(Button));`,
  );
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    define: { 'process.env.NODE_ENV': '"production"' },
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
  });
  rmSync(folder, { recursive: true, force: true });
  const script = outputFiles[0]?.contents ?? new Uint8Array();
  const page = '<!doctype html><title>floor</title><div id="root"></div><script type="module" src="/main.js"></script>';
  const server = createServer((request, response) => {
    const isScript = request.url === '/main.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : page);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function median(found: readonly number[]): number {
  return found.toSorted((a, b) => a - b)[Math.floor(found.length / 2)] ?? 0;
}

function goal(bench: string, value: number, most: number, more: object = {}): void {
  const rounded = Math.round(value * 10) / 10;
  process.stdout.write(
    `${JSON.stringify({ bench, ...more, value: rounded, limits: most, reached: rounded <= most })}\n`,
  );
}
