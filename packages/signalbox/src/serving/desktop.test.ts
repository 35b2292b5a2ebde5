import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findAppBrowser } from './app-browser.ts';
import { handOver } from './handover.ts';

describe('a browser for the desktop', () => {
  const isProgram =
    (...there: readonly string[]) =>
    (file: string) =>
      there.includes(file);

  it('[S171] is looked for where the system has its programs, never on the PATH, in the order of what is best', () => {
    const env = { PATH: '/project/node_modules/.bin' };
    const found = isProgram(
      '/project/node_modules/.bin/google-chrome',
      '/snap/bin/chromium',
      '/usr/bin/microsoft-edge',
    );
    expect(findAppBrowser({ platform: 'linux', env, isProgram: found })).toBe('/snap/bin/chromium');
    expect(findAppBrowser({ platform: 'linux', env, isProgram: isProgram() })).toBeUndefined();
  });

  it('is looked for where each system has its programs', () => {
    const mac = '/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge';
    expect(findAppBrowser({ platform: 'darwin', env: {}, isProgram: isProgram(mac) })).toBe(mac);
    const windows = 'C:\\Programs\\Google\\Chrome\\Application\\chrome.exe';
    const env = { PROGRAMFILES: 'C:\\Programs' };
    expect(findAppBrowser({ platform: 'win32', env, isProgram: isProgram(windows) })).toBe(windows);
  });

  it('is the one that was asked for, or none', () => {
    const env = { SIGNALBOX_BROWSER: '/my/browser', PATH: '/usr/bin' };
    const chromium = '/usr/bin/chromium';
    expect(findAppBrowser({ platform: 'linux', env, isProgram: isProgram('/my/browser', chromium) })).toBe(
      '/my/browser',
    );
    expect(findAppBrowser({ platform: 'linux', env, isProgram: isProgram(chromium) })).toBeUndefined();
  });
});

it('the token is handed over in a file of this user’s alone, gone afterwards', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'handover-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const handover = handOver(directory, 'http://127.0.0.1:1/#token=secret');
  const file = fileURLToPath(handover.url);
  expect(handover.url).not.toContain('secret');
  expect(readFileSync(file, 'utf8')).toContain('url=http://127.0.0.1:1/#token=secret');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  handover.close();
  expect(existsSync(file)).toBe(false);
});
