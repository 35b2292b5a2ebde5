import type { RunSummary } from '@signalbox/model';
import { many } from '../story/words.ts';

/** Something that whoever looks at a run must know before they read on. */
export interface RunNote {
  readonly kind: 'imported' | 'collected' | 'left' | 'held';
  readonly words: string;
}

/** What is special about a run: that it came from elsewhere, that parts of it are gone, that nothing works on it. */
export function runNotes({ record, driven }: Pick<RunSummary, 'record' | 'driven'>): readonly RunNote[] {
  const notes: RunNote[] = [];
  if (record.origin?.kind === 'import') {
    const words = 'This run came from a bundle. What happened before it was imported happened elsewhere.';
    notes.push({ kind: 'imported', words });
  }
  const { collected = [] } = record;
  if (collected.length > 0) {
    const frames = collected.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const which = collected.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
    const words = `${many(frames, 'frame')} (${which}) ${frames === 1 ? 'was' : 'were'} collected to save room. `;
    notes.push({ kind: 'collected', words: `${words}Their events are kept; their trees and state are gone.` });
  }
  if (driven && record.status === 'paused' && record.stopReason !== undefined) {
    const words = `${record.stopReason} The run goes on by itself when there is room; nothing is lost.`;
    notes.push({ kind: 'held', words });
  }
  if (!driven && (record.status === 'running' || record.status === 'queued')) {
    const words = 'Nothing works on this run at the moment: the process that did has ended. Resume it to go on.';
    notes.push({ kind: 'left', words });
  }
  return notes;
}

/** Whether what a frame showed is gone. */
export function isCollected({ collected = [] }: RunSummary['record'], frame: number | undefined): boolean {
  return frame !== undefined && collected.some(({ from, to }) => frame >= from && frame <= to);
}
