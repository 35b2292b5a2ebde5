import type { FramePair, RunComparison } from '@signalbox/model';
import type { Frame, RunReader, RunRecord } from '@signalbox/runs';
import { forkedFrom } from './relation.ts';

/** Pairs of frames that are shown, and frames that are read at once. */
const MOST_PAIRS = 60;
const PAGE = 500;
const KEYS_SHOWN = 12;

/** Two runs frame by frame, from where they begin to have frames in common. */
export async function compareFrames(
  reader: RunReader,
  a: RunRecord,
  b: RunRecord,
  { parent, frame = 0 }: RunComparison['relation'],
): Promise<RunComparison['frames']> {
  // A fork begins with the forked frame, as its own frame 0.
  const beginOf = (run: RunRecord) =>
    run.id === parent ? frame : Math.max(0, frame - (forkedFrom(run)?.frame ?? frame));
  const [fromA, fromB] = [beginOf(a), beginOf(b)];
  const length = Math.max(a.frames - fromA, b.frames - fromB, 0);
  let same = 0;
  let partAt: { readonly a: number; readonly b: number } | undefined;
  const pairs: FramePair[] = [];
  for (let at = 0; at < length && pairs.length < MOST_PAIRS; at += PAGE) {
    const [left, right] = [await framesOf(reader, a, fromA + at), await framesOf(reader, b, fromB + at)];
    for (let place = at; place < Math.min(at + PAGE, length) && pairs.length < MOST_PAIRS; place += 1) {
      const [one, other] = [left.get(fromA + place), right.get(fromB + place)];
      if (one === undefined && other === undefined) continue;
      const isSame = one !== undefined && one.digest === other?.digest;
      if (partAt === undefined && isSame) {
        same += 1;
        continue;
      }
      partAt ??= { a: fromA + place, b: fromB + place };
      pairs.push(await pairOf(reader, [a, one], [b, other], isSame));
    }
  }
  return {
    ...(partAt !== undefined && { partAt }),
    same,
    pairs,
    more: Math.max(0, length - same - pairs.length),
  };
}

async function framesOf(reader: RunReader, { id }: RunRecord, from: number): Promise<ReadonlyMap<number, Frame>> {
  return new Map((await reader.frames(id, from, PAGE)).map(frame => [frame.index, frame]));
}

type Side = readonly [run: RunRecord, frame: Frame | undefined];

async function pairOf(reader: RunReader, [a, one]: Side, [b, other]: Side, same: boolean): Promise<FramePair> {
  const differs =
    same || one === undefined || other === undefined ? undefined : await differences(reader, [a, one], [b, other]);
  return {
    ...(one !== undefined && { a: one.index, aTrigger: one.trigger.kind }),
    ...(other !== undefined && { b: other.index, bTrigger: other.trigger.kind }),
    same,
    differs: differs?.differs ?? [],
    keys: differs?.keys ?? [],
  };
}

async function differences(
  reader: RunReader,
  [a, one]: readonly [RunRecord, Frame],
  [b, other]: readonly [RunRecord, Frame],
): Promise<Pick<FramePair, 'differs' | 'keys'>> {
  const differing = async (space: 'node' | 'status' | 'state') => {
    const [left, right] = [await reader.at(a.id, space, one.index), await reader.at(b.id, space, other.index)];
    return [...new Set([...left.keys(), ...right.keys()])].filter(
      key => JSON.stringify(left.get(key)) !== JSON.stringify(right.get(key)),
    );
  };
  const [plan, status, state] = [await differing('node'), await differing('status'), await differing('state')];
  return {
    differs: [
      ...(plan.length > 0 ? (['plan'] as const) : []),
      ...(status.length > 0 ? (['status'] as const) : []),
      ...(state.length > 0 ? (['state'] as const) : []),
    ],
    keys: state.toSorted().slice(0, KEYS_SHOWN),
  };
}
