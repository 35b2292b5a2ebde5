import type { RunSummary } from '@signalbox/model';
import { many } from '../story/words.ts';

/** A note that a viewer of a run must see first. */
export interface RunNote {
  readonly kind: 'imported' | 'collected' | 'left' | 'held';
  readonly words: string;
}

/** Notes about a run: that it was imported, that parts are collected, that nothing drives it. */
export function runNotes({ record, driven }: Pick<RunSummary, 'record' | 'driven'>): readonly RunNote[] {
  const notes: RunNote[] = [];
  if (record.origin?.kind === 'import') {
    const words = 'This run was imported from a bundle. Its earlier history happened elsewhere.';
    notes.push({ kind: 'imported', words });
  }
  const { collected = [] } = record;
  if (collected.length > 0) {
    const frames = collected.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const which = collected.map(({ from, to }) => (from === to ? `${from}` : `${from} to ${to}`)).join(', ');
    const words = `${many(frames, 'frame')} (${which}) ${frames === 1 ? 'was' : 'were'} collected to save space. `;
    notes.push({ kind: 'collected', words: `${words}Their events are kept; their trees and state are gone.` });
  }
  if (driven && record.status === 'paused' && record.stopReason !== undefined) {
    const words = `${record.stopReason} The run resumes on its own when there is space; nothing is lost.`;
    notes.push({ kind: 'held', words });
  }
  if (record.interrupted === true) {
    const words = 'This run was interrupted: its process ended without stopping it. Resume it to continue.';
    notes.push({ kind: 'left', words });
  }
  return notes;
}

/** Whether a frame's content was collected. */
export function isCollected({ collected = [] }: RunSummary['record'], frame: number | undefined): boolean {
  return frame !== undefined && collected.some(({ from, to }) => frame >= from && frame <= to);
}
