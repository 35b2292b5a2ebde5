import type { Json } from '@signalbox/model';
import type { State } from './use-frame.ts';

/** A key of state with its previous value. */
export interface KeyDiff {
  readonly key: string;
  readonly kind: 'same' | 'changed' | 'came' | 'went';
  readonly before?: Json;
  readonly after?: Json;
}

/** Changed keys first, then by name. */
export function stateDiff(before: State, after: State): readonly KeyDiff[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  const all = keys.map((key): KeyDiff => {
    const [old, now] = [before[key], after[key]];
    if (old === undefined && now !== undefined) return { key, kind: 'came', after: now };
    if (now === undefined && old !== undefined) return { key, kind: 'went', before: old };
    if (old === undefined || now === undefined) return { key, kind: 'same' };
    const isSame = JSON.stringify(old) === JSON.stringify(now);
    return { key, kind: isSame ? 'same' : 'changed', before: old, after: now };
  });
  return [...all.filter(({ kind }) => kind !== 'same'), ...all.filter(({ kind }) => kind === 'same')];
}
