import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A page that leads to the console, for a browser to be started with. */
export interface Handover {
  readonly url: string;
  close(): void;
}

/**
 * The arguments of a program can be read by everybody on the machine, so the token is not among them: it lies in a file of this
 * user's alone, which leads the browser on.
 */
export function handOver(directory: string, page: string): Handover {
  const file = path.join(directory, `open-${randomBytes(8).toString('hex')}.html`);
  const html = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${page}"><title>Signalbox</title>\n`;
  writeFileSync(file, html, { mode: 0o600, flag: 'wx' });
  return { url: pathToFileURL(file).href, close: () => rmSync(file, { force: true }) };
}
