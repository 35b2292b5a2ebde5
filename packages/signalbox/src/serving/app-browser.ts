import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { systemPath } from '@signalbox/app';

export interface BrowserFacts {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isProgram?: (file: string) => boolean;
}

const names = [
  'google-chrome',
  'google-chrome-stable',
  'chromium',
  'chromium-browser',
  'microsoft-edge',
  'microsoft-edge-stable',
  'brave-browser',
];
const macNames = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser'];
const windowsNames = ['Google\\Chrome\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe'];

/** An installed browser that can open an app window; SIGNALBOX_BROWSER overrides it. */
export function findAppBrowser({ platform, env, isProgram = canRun }: BrowserFacts): string | undefined {
  const asked = env.SIGNALBOX_BROWSER;
  if (asked !== undefined && asked !== '') return isProgram(asked) ? asked : undefined;
  return placesOf(platform, env).find(isProgram);
}

function placesOf(platform: NodeJS.Platform, env: BrowserFacts['env']): readonly string[] {
  if (platform === 'darwin') return macNames.map(name => `/Applications/${name}.app/Contents/MacOS/${name}`);
  if (platform === 'win32') {
    const roots = [env.PROGRAMFILES, env['PROGRAMFILES(X86)'], env.LOCALAPPDATA].filter(root => root !== undefined);
    return roots.flatMap(root => windowsNames.map(name => path.win32.join(root, name)));
  }
  // Not looked up on the PATH: a project may have put a program of that name there.
  const folders = systemPath().split(':');
  return names.flatMap(name => folders.map(folder => path.join(folder, name)));
}

function canRun(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
