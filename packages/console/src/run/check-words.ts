import { defectWords, type ReplayReport, type RunCheck } from '@signalbox/model';
import { many } from '../story/words.ts';

/** A report in a person's words: what holds in one sentence, and what there is to say beside it. */
export interface CheckWords {
  readonly isSound: boolean;
  readonly verdict: string;
  readonly details: readonly string[];
}

/** What the check of a record found. */
export function verifyWords({ ok, records, head, defects = [], journal }: RunCheck): CheckWords {
  const details = [
    ...defects.map(defect => `In ${defectWords(defect)}`),
    `The head after the last record that holds is ${head}.`,
  ];
  if (journal !== undefined) {
    details.push(
      journal.ok
        ? `Its journal says the same, in ${many(journal.segments, 'segment')}.`
        : `Its journal is ${journal.health}: ${journal.defect?.reason ?? 'it cannot be read'}. ${journal.defect?.meaning ?? ''}`.trim(),
      ...journal.notes,
    );
  }
  return {
    isSound: ok,
    verdict: ok
      ? `All ${many(records, 'record')} hold: each is chained to the one before it, and everything shown follows from them.`
      : defects.some(({ where }) => where === 'log')
        ? `Only the first ${many(records, 'record')} can be relied on.`
        : `The log holds, but ${many(defects.length, 'thing')} shown ${defects.length === 1 ? 'does' : 'do'} not follow from it.`,
    details,
  };
}

/** What making the frames again found. */
export function replayWords({ ok, runs }: ReplayReport): CheckWords {
  const frames = runs.reduce((sum, run) => sum + run.frames, 0);
  const verified = runs.reduce((sum, run) => sum + run.verified, 0);
  const unverified = runs.reduce((sum, run) => sum + run.unverified.count, 0);
  const differs = runs.find(({ difference }) => difference !== undefined);
  const details = [
    ...(runs.length > 1
      ? [`${many(runs.length - 1, 'sub-plan')} of it ${runs.length === 2 ? 'is' : 'are'} counted in.`]
      : []),
    ...(unverified > 0
      ? [`${many(unverified, 'frame')} read something that was not recorded, and cannot be verified.`]
      : []),
  ];
  if (differs?.difference !== undefined) {
    const { frame, what } = differs.difference;
    return { isSound: false, verdict: `Frame ${frame} came out otherwise: ${what}`, details };
  }
  return {
    isSound: ok,
    verdict: ok
      ? `All ${many(frames, 'frame')} came out again as they were recorded. No model was asked and no tool was run.`
      : `${verified} of ${many(frames, 'frame')} came out again as they were recorded.`,
    details,
  };
}
