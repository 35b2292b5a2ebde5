import path from 'node:path';
import { openDemoDirectory, startShow } from '@signalbox/app';
import { type ErrorEnvelope, thisMachine } from '@signalbox/app/runs';
import { handOver } from '../serving/handover.ts';
import { openBrowser } from '../serving/open-browser.ts';
import { interrupted, openServing } from '../serving/open-serving.ts';
import { paintOf, type Terminal } from '../terminal.ts';

export interface LiveOptions {
  readonly directory: string | undefined;
  readonly port: number;
  readonly open: boolean;
  readonly json: boolean;
}

/** Server, console and runs to look at, until Ctrl-C. */
export async function playLive(
  terminal: Terminal,
  { directory, port, open, json }: LiveOptions,
): Promise<ErrorEnvelope | undefined> {
  const opened = openDemoDirectory(directory);
  if (!opened.ok) return opened.error;
  const place = opened.value;
  try {
    const serving = await openServing(terminal, { directory: path.join(place.path, 'data'), port });
    if (!serving.ok) return serving.error;
    const { url, page, host, guided, close } = serving.value;
    const ended = interrupted();
    const { timers } = thisMachine();
    const show = await startShow({ host, guided, timers, directory: path.join(place.path, 'plans') });
    if (show.ok) {
      terminal.print(json ? JSON.stringify({ url, page }) : greeting(terminal, page));
      const handover = open && terminal.screen !== undefined ? handOver(place.path, page) : undefined;
      if (handover !== undefined) openBrowser(handover.url);
      await ended;
      handover?.close();
      show.value.close();
    }
    await close();
    return show.ok ? undefined : show.error;
  } finally {
    place.close();
  }
}

function greeting(terminal: Terminal, page: string): string {
  const { strong, faint } = paintOf(terminal);
  return [
    `${strong('Open')} ${page}`,
    '',
    'A run works, one waits for you in the queue, one failed, one has a fork, and an agent walks a workflow.',
    faint('Ctrl-C ends it and leaves nothing behind.'),
  ].join('\n');
}
