import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A page to start a browser with, which redirects to the console. */
export interface Handover {
  readonly url: string;
  close(): void;
}

/**
 * Everyone on the machine can read a program's arguments, so the token is not among them: it is in a file that only this user
 * can read, which redirects the browser.
 */
export function handOver(directory: string, page: string): Handover {
  const file = path.join(directory, `open-${randomBytes(8).toString('hex')}.html`);
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${page}"><title>Signalbox</title>\n`;
  writeFileSync(file, html, { mode: 0o600, flag: 'wx' });
  return { url: pathToFileURL(file).href, close: () => rmSync(file, { force: true }) };
}
