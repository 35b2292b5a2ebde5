import type { RunId, RunReader } from '@signalbox/app/host';
import type { RunView } from './follow-run.ts';
import { describeEvent } from './run-report.ts';
import type { Terminal } from './terminal.ts';
import type { PlaceStyle } from './thrown-report.ts';

/** Shows an active run: a tree if the terminal can redraw, else one line per event, for people or as JSON. */
export async function runViewOf(
  terminal: Terminal,
  reader: RunReader,
  run: RunId,
  json: boolean,
  style: PlaceStyle,
): Promise<RunView> {
  if (!json && terminal.screen !== undefined) {
    // Measuring the width of text takes Unicode tables that are slow to load.
    const { liveViewOf } = await import('./live/live-view.ts');
    return liveViewOf(terminal.screen, reader, run, style.paint);
  }
  const labels = new Map<string, string>();

  async function learn(node: string): Promise<void> {
    if (labels.has(node)) return;
    const { frames } = (await reader.run(run)) ?? { frames: 0 };
    const row = (await reader.valueAt(run, 'node', node, frames)) as NodeRow | undefined;
    const named = row?.data?.label ?? row?.data?.name;
    if (row !== undefined) labels.set(node, typeof named === 'string' ? named : `${row.kind} ${node}`);
  }

  return {
    async events(events) {
      const lines: string[] = [];
      for (const stored of events) {
        const { event } = stored;
        if (!json && 'node' in event && event.node !== undefined) await learn(event.node);
        const line = json ? JSON.stringify(stored) : describeEvent(stored, node => labels.get(node) ?? node, style);
        if (line !== undefined) lines.push(line);
      }
      if (lines.length > 0) terminal.print(lines.join('\n'));
    },
    said() {},
    async close() {},
  };
}

interface NodeRow {
  readonly kind: string;
  readonly data?: { readonly label?: unknown; readonly name?: unknown };
}
