import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
  const browser = await playwright.launch({
    ...(system === undefined ? await unpacked() : { executablePath: system }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--no-first-run',
    ],
    headless: true,
    timeout: PATIENCE_MS,
  });
  if (await drawsText(browser)) return browser;
  await browser.close();
  throw new Error('this Chromium draws no text: it found no fonts, and to a test everything on a page would be hidden');
}

let shared: Promise<Browser> | undefined;

/** The browser of this process, for all of its test files: each has a context of its own. It ends with the process. */
export async function sharedBrowser(): Promise<Browser> {
  const running = await shared?.catch(() => undefined);
  if (running?.isConnected()) return running;
  shared = launchBrowser();
  return shared;
}

/** Without fonts pages load as ever, but no text of theirs takes any room. */
async function drawsText(browser: Browser): Promise<boolean> {
  const context = await newContext(browser);
  const page = await context.newPage();
  await page.setContent('<span>text</span>');
  const drawn = await page.locator('span').boundingBox();
  await context.close();
  return drawn !== null && drawn.width > 0 && drawn.height > 0;
}

/** How long a test waits for what a page must come to: a machine that is busy with something else is no fault of the page. */
const PATIENCE_MS = 600_000;

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
  const place = path.join(repositoryRoot, `node_modules/.cache/chromium-${packageVersion()}`);
  if (!existsSync(place)) {
    const own = `${place}.${process.pid}`;
    mkdirSync(own, { recursive: true });
    const { TMPDIR } = process.env;
    process.env.TMPDIR = own;
    const executable = await chromium.executablePath();
    await unpackLibraries(executable);
    writeFileSync(path.join(own, FONTS_CONF), fontsConf);
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
      FONTCONFIG_FILE: path.join(place, FONTS_CONF),
      ...(existsSync(libraries) && { LD_LIBRARY_PATH: libraries }),
    },
  };
}

const FONTS_CONF = 'own-fonts.conf';

/**
 * The package's own configuration looks for its fonts where it unpacks them on another kind of machine. This one finds them
 * beside itself. The fonts of the system are left out: pages look the same on every machine.
 */
const fontsConf = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts/fonts</dir>
</fontconfig>
`;

const packageEntry = fileURLToPath(import.meta.resolve('@sparticuz/chromium'));

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(path.join(path.dirname(packageEntry), '../package.json'), 'utf8'));
  return version;
}

/** The package brings the few libraries that a bare system may lack (NSS and NSPR). */
async function unpackLibraries(executable: string): Promise<void> {
  const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
  if (!stdout.includes('not found')) return;
  await inflate(path.join(path.dirname(packageEntry), '../bin/al2023.tar.br'));
}
