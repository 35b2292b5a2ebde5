import { defectWords, type ReplayReport, type RunCheck } from '@signalbox/model';
import { many } from '../story/words.ts';

/** A report as text: the result in one sentence, and further notes. */
export interface CheckWords {
  readonly isSound: boolean;
  readonly verdict: string;
  readonly details: readonly string[];
}

/** The result of verifying a record. */
export function verifyWords({ ok, records, head, defects = [], journal }: RunCheck): CheckWords {
  const details = [
    ...defects.map(defect => `In ${defectWords(defect)}`),
    `The head after the last valid record is ${head}.`,
  ];
  if (journal !== undefined) {
    details.push(
      journal.ok
        ? `Its journal agrees, in ${many(journal.segments, 'segment')}.`
        : `Its journal is ${journal.health}: ${journal.defect?.reason ?? 'it cannot be read'}. ${journal.defect?.meaning ?? ''}`.trim(),
      ...journal.notes,
    );
  }
  return {
    isSound: ok,
    verdict: ok
      ? `All ${many(records, 'record')} are valid: each is chained to the one before it, and everything shown follows from them.`
      : defects.some(({ where }) => where === 'log')
        ? `Only the first ${many(records, 'record')} can be relied on.`
        : `The log is valid, but ${many(defects.length, 'thing')} shown ${defects.length === 1 ? 'does' : 'do'} not follow from it.`,
    details,
  };
}

/** The result of a replay. */
export function replayWords({ ok, runs }: ReplayReport): CheckWords {
  const frames = runs.reduce((sum, run) => sum + run.frames, 0);
  const verified = runs.reduce((sum, run) => sum + run.verified, 0);
  const unverified = runs.reduce((sum, run) => sum + run.unverified.count, 0);
  const differs = runs.find(({ difference }) => difference !== undefined);
  const details = [
    ...(runs.length > 1 ? [`${many(runs.length - 1, 'sub-plan')} ${runs.length === 2 ? 'is' : 'are'} included.`] : []),
    ...(unverified > 0
      ? [`${many(unverified, 'frame')} read something that was not recorded${namesOf(runs)}, and cannot be verified.`]
      : []),
  ];
  if (differs?.difference !== undefined) {
    const { frame, what } = differs.difference;
    return { isSound: false, verdict: `Frame ${frame} differs: ${what}`, details };
  }
  return {
    isSound: ok,
    verdict: ok
      ? `All ${many(frames, 'frame')} replayed as recorded. No model was called and no tool was run.`
      : `${verified} of ${many(frames, 'frame')} replayed as recorded.`,
    details,
  };
}

function namesOf(runs: ReplayReport['runs']): string {
  const names = [...new Set(runs.flatMap(({ unrecorded = [] }) => unrecorded))];
  return names.length === 0 ? '' : ` (${names.join(', ')})`;
}
