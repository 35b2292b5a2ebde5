import type { RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import type { CallCheckpoint } from '../undo/undo-desk.ts';
import type { ForkMoment } from './fork-request.ts';

/**
 * The calls whose changes the files of a fork lack although they ended before its moment: they were undone since. Its agents remember them as
 * done. Oldest first; a turn is named without the calls in it.
 */
export async function callsLeftOut(
  reader: Pick<RunReader, 'run' | 'frame'>,
  fork: RunId,
  moment: ForkMoment,
  checkpoints: readonly Pick<CallCheckpoint, 'call' | 'at' | 'within' | 'undone' | 'changesFiles'>[],
): Promise<readonly string[]> {
  const undone = checkpoints.filter(one => one.undone && one.changesFiles);
  if (undone.length === 0) return [];
  const before = await endedBefore(reader, fork, moment, checkpoints);
  const left = undone.filter(one => before.has(one.call));
  const turns = new Set(left.map(({ call }) => call));
  return left.filter(({ within }) => within === undefined || !turns.has(within)).map(({ call }) => call);
}

/** The calls that had ended at the moment. `checkpoints` are in the order in which they ended. */
async function endedBefore(
  reader: Pick<RunReader, 'run' | 'frame'>,
  fork: RunId,
  moment: ForkMoment,
  checkpoints: readonly Pick<CallCheckpoint, 'call' | 'at'>[],
): Promise<ReadonlySet<string>> {
  const calls = checkpoints.map(({ call }) => call);
  if (moment.kind === 'call') return new Set(calls.slice(0, calls.indexOf(moment.call) + (moment.after ? 1 : 0)));
  const { origin } = (await reader.run(fork)) ?? {};
  const from = origin?.kind === 'fork' ? await reader.frame(origin.run, origin.frame) : undefined;
  return new Set(checkpoints.filter(({ at }) => from !== undefined && at <= from.at).map(({ call }) => call));
}
