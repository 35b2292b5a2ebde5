import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Client, News } from '@signalbox/client';
import type { RunId, RunSummary } from '@signalbox/model';
import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { newContext, sharedBrowser } from './chromium.ts';
import { type LiveConsole, type LiveOptions, openLiveConsole } from './live-console.ts';

/** A page in a real browser, on a server of its own. */
export interface LivePage {
  readonly live: LiveConsole;
  readonly context: BrowserContext;
  readonly page: Page;
  /** Complaints of the browser: failed scripts, violations of the content security policy. */
  readonly complaints: readonly string[];
  close(): Promise<void>;
}

/** Complaints of a browser whose server is away, or made to fail. */
export const LOST = /WebSocket connection|Failed to load resource|ERR_CONNECTION/;

export async function openLivePage(forgiven?: RegExp, options?: LiveOptions): Promise<LivePage> {
  const context = await newContext(await sharedBrowser(), { viewport: { width: 1440, height: 900 } });
  const live = await openLiveConsole(options);
  const close = async () => {
    await context.close();
    await live.close();
  };
  try {
    const page = await context.newPage();
    await begins(page, live.url);
    return { live, context, page, complaints: complaintsOf(page, forgiven), close };
  } catch (cause) {
    await close();
    throw cause;
  }
}

/**
 * Opens the console, until it asks for a token. A console that cannot begin at all is told at once and once, before each test
 * waits for something on it.
 */
export async function begins(page: Page, url: string): Promise<void> {
  const { promise: broken, reject } = Promise.withResolvers<never>();
  const fail = (why: string) => reject(new Error(`the console does not begin: ${why}`));
  const onError = ({ message }: Error) => fail(message);
  const onMessage = (message: ConsoleMessage) => message.type() === 'error' && fail(message.text());
  page.on('pageerror', onError).on('console', onMessage);
  try {
    await Promise.race([page.goto(url).then(() => page.getByLabel('Token').waitFor()), broken]);
  } finally {
    page.off('pageerror', onError).off('console', onMessage);
  }
}

/** Fills up while the page is used. */
export function complaintsOf(page: Page, forgiven?: RegExp): readonly string[] {
  const complaints: string[] = [];
  page.on('pageerror', error => complaints.push(error.message));
  page.on('console', message => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (forgiven?.test(message.text()) !== true) complaints.push(message.text());
  });
  return complaints;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Everything that axe reports about the page, then what it reports about colours in the dark: the rest is the same there. */
export async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  const faults: string[] = [];
  for (const [colorScheme, rules] of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const found = await page.evaluate<readonly string[]>(
      `axe.run(document, { resultTypes: ['violations'], ${rules} }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => id + ' at ' + target + ': ' + failureSummary)))`,
    );
    faults.push(...found.map(fault => `${colorScheme}: ${fault}`));
  }
  await page.emulateMedia({ colorScheme: 'light' });
  return faults;
}

const SCHEMES = [
  ['light', ''],
  ['dark', 'runOnly: ["color-contrast", "link-in-text-block"]'],
] as const;

/** Until the server says so: what follows does not depend on how fast the machine is. */
export async function untilNews(
  client: Client,
  run: RunId,
  isSo: (news: News) => boolean,
  options?: { readonly from: number },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const watch = client.watch(run, news => isSo(news) && resolve(), options);
  await promise;
  watch.close();
}

export function untilSummary(client: Client, run: RunId, isSo: (summary: RunSummary) => boolean): Promise<void> {
  return untilNews(client, run, news => {
    const summary = news.kind === 'state' ? news.snapshot : news.kind === 'run' ? news.summary : undefined;
    return summary !== undefined && isSo(summary);
  });
}

export function untilStatus(client: Client, run: RunId, status: string): Promise<void> {
  return untilSummary(client, run, ({ record }) => record.status === status);
}
