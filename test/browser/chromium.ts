import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium as playwright } from 'playwright-core';

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The system's Chromium where there is one, else the one that comes as a package (Linux on x64) and unpacks itself into the
 * temporary folder. The package's own arguments are left out: they turn off the web's security, which is tested here.
 */
export async function launchBrowser(): Promise<Browser> {
  const system = installed.find(file => existsSync(file));
  if (system === undefined && (process.platform !== 'linux' || process.arch !== 'x64')) {
    throw new Error('tests of the console need Chromium or Chrome: install one of them');
  }
  const executablePath = system ?? (await chromium.executablePath());
  return playwright.launch({
    executablePath,
    env: { ...process.env, ...(system === undefined && (await librariesOf(executablePath))) },
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--no-first-run',
    ],
    headless: true,
  });
}

/** How long a test waits for what a page must come to: a machine that is busy with something else is no fault of the page. */
export const PATIENCE_MS = 120_000;

export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/** The package brings the few libraries that a bare system may lack (NSS and NSPR). */
async function librariesOf(executable: string): Promise<{ readonly LD_LIBRARY_PATH?: string }> {
  const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
  if (!stdout.includes('not found')) return {};
  const entry = fileURLToPath(import.meta.resolve('@sparticuz/chromium'));
  const folder = await inflate(path.join(path.dirname(entry), '../bin/al2023.tar.br'));
  return { LD_LIBRARY_PATH: path.join(folder, 'lib') };
}
