import { journalsAhead } from '@signalbox/app/host';
import { paintOf, type Terminal } from '../terminal.ts';

/** Warns on the terminal that the journals contain records that the database lacks. */
export function tellAhead(terminal: Terminal, dataDirectory: string): void {
  const { absent, behind } = journalsAhead(dataDirectory);
  const count = absent.length + behind.length;
  if (count === 0) return;
  const first = [...absent, ...behind][0];
  const others = count === 1 ? '' : ` and ${count - 1} more`;
  terminal.complain(
    paintOf(terminal).bad(
      `! The journals contain records of run ${first}${others} that the database lacks: it was replaced or is an older copy. ` +
        'Stop Signalbox and run "signalbox repair".',
    ),
  );
}
