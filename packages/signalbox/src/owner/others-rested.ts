import { asked } from '../end-signals.ts';
import type { Terminal } from '../terminal.ts';
import type { RunOwner } from './run-owner.ts';

/** Waits for the runs of other programs that this process drives, until the program is asked to end. */
export async function othersRested(terminal: Terminal, owner: RunOwner, ending: AbortSignal): Promise<void> {
  const others = owner.othersRested(count => {
    if (ending.aborted) return;
    terminal.complain(
      `${count} more ${count === 1 ? 'run continues' : 'runs continue'} in this process. Ctrl-C pauses ${count === 1 ? 'it' : 'them'}.`,
    );
  });
  await Promise.race([others, asked(ending)]);
}
