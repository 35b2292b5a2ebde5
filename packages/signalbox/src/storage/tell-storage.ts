import type { RunHost } from '@signalbox/app/host';
import { paintOf, shown, type Terminal } from '../terminal.ts';

/** Reports on the terminal when the data directory stops accepting writes, which runs that pauses, and when it recovers. */
export function tellStorage(terminal: Terminal, storage: RunHost['storage']): () => void {
  const paint = paintOf(terminal);
  let told: string | undefined;
  return storage.subscribe(() => {
    const now = storage.standing();
    if (now.status === 'ok') {
      if (told !== undefined)
        terminal.complain(`${paint.good('▶')} The data directory accepts writes again; runs resume.`);
      told = undefined;
      return;
    }
    const runs = now.runs.length === 0 ? '' : ` Paused: ${now.runs.join(', ')}.`;
    const text = `${now.message}${runs}`;
    if (text === told) return;
    told = text;
    terminal.complain(`${paint.bad('⏸')} ${shown(text)}`);
  });
}
