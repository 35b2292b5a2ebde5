import { appendFileSync, writeFileSync } from 'node:fs';
import type { RunId, TraceEntry } from '@signalbox/app/host';
import { type Paint, shown, type Terminal } from './terminal.ts';

export type Trace = (run: RunId, entry: TraceEntry) => void;

/** Prints the duration and result of each phase of each frame. */
export function debugTrace(terminal: Terminal, paint: Paint): Trace {
  return (_, entry) => terminal.complain(paint.faint(describeTrace(entry)));
}

/** Writes every phase of every frame as one line of JSON, replacing the file. */
export function fileTrace(file: string): Trace {
  writeFileSync(file, '');
  return (_, entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`);
}

function describeTrace({ frame, phase, ms, ...detail }: TraceEntry): string {
  const { run: _, triggers, reads, nodes, mounted, unmounted, written, started } = detail;
  const parts = [
    triggers && `because of ${triggers.join(' ')}`,
    nodes !== undefined && `${nodes} nodes`,
    list('reads', reads),
    list('mounted', mounted),
    list('unmounted', unmounted),
    list('wrote', written),
    list('started', started),
  ];
  return `frame ${frame} ${phase.padEnd(9)} ${ms} ms ${parts.filter(Boolean).join('; ')}`.trimEnd();
}

function list(what: string, items: readonly string[] | undefined): string | undefined {
  return items === undefined || items.length === 0 ? undefined : `${what} ${items.map(shown).join(' ')}`;
}
