import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import chromium, { inflate } from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium as playwright } from 'playwright-core';
import { repositoryRoot } from '../source-file.ts';

const installed = [
  '/usr/bin/chromium',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/**
 * The system's Chromium where there is one, else the one that comes as a package (Linux on x64). The package's own arguments are left
 * out: they turn off the web's security, which is tested here.
 */
export async function launchBrowser(): Promise<Browser> {
  const system = installed.find(file => existsSync(file));
  if (system === undefined && (process.platform !== 'linux' || process.arch !== 'x64')) {
    throw new Error('tests of the console need Chromium or Chrome: install one of them');
  }
  return playwright.launch({
    ...(system === undefined ? await unpacked() : { executablePath: system }),
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
export const PATIENCE_MS = 180_000;

export async function newContext(browser: Browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  return context;
}

/**
 * Unpacks the package's Chromium once for this clone. The package unpacks into the temporary directory, and takes a file that another
 * process is still writing for its own: each process unpacks for itself, and the first that is done is used by all later ones.
 */
async function unpacked(): Promise<{ readonly executablePath: string; readonly env: NodeJS.ProcessEnv }> {
  const place = path.join(repositoryRoot, 'node_modules/.cache/chromium');
  if (!existsSync(place)) {
    const own = `${place}.${process.pid}`;
    mkdirSync(own, { recursive: true });
    const { TMPDIR } = process.env;
    process.env.TMPDIR = own;
    const executable = await chromium.executablePath();
    await unpackLibraries(executable);
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
    try {
      renameSync(own, place);
    } catch (cause) {
      rmSync(own, { recursive: true });
      if (!existsSync(place)) throw cause;
    }
  }
  const libraries = path.join(place, 'al2023/lib');
  return {
    executablePath: path.join(place, 'chromium'),
    env: {
      ...process.env,
      FONTCONFIG_PATH: path.join(place, 'fonts'),
      ...(existsSync(libraries) && { LD_LIBRARY_PATH: libraries }),
    },
  };
}

/** The package brings the few libraries that a bare system may lack (NSS and NSPR). */
async function unpackLibraries(executable: string): Promise<void> {
  const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
  if (!stdout.includes('not found')) return;
  const entry = fileURLToPath(import.meta.resolve('@sparticuz/chromium'));
  await inflate(path.join(path.dirname(entry), '../bin/al2023.tar.br'));
}
