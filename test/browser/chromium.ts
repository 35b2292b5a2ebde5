import { existsSync } from 'node:fs';
import chromium from '@sparticuz/chromium';
import { type Browser, chromium as playwright } from 'playwright-core';

/**
 * The system's Chromium where there is one, else the one that comes as a package and unpacks itself into the temporary folder.
 * The package's own arguments are left out: they turn off the web's security, which is what is tested here.
 */
export async function launchBrowser(): Promise<Browser> {
  const system = ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(file => existsSync(file));
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
