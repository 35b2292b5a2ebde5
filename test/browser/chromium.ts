import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

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
  return playwright.launch({
    executablePath: system ?? (await chromium.executablePath()),
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
