import { nodeHasher } from '@signalbox/journal';
import { canonicalJson } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { draftOf, runJournalSchema, sessionOfRun } from '../run-journal/run-journal-event.ts';
import { type Beat, tellStory } from './story.ts';

const beatsOf = ({ brief, failingTest, approval, repair }: ReturnType<typeof tellStory>): readonly Beat[] => [
  brief,
  failingTest,
  approval,
  repair,
];

describe('the story', () => {
  it('[A14] is the same every time it is told', () => {
    expect(canonicalJson(tellStory())).toBe(canonicalJson(tellStory()));
  });

  it('[A12] fits a journal: events in order, with the snapshots they refer to', () => {
    const story = tellStory();
    const events = beatsOf(story).flatMap(beat => beat.events);
    expect(events.map(event => event.seq)).toEqual(events.map((_event, index) => index));
    for (const beat of beatsOf(story)) {
      const refs = beat.events.flatMap(event => {
        const place = { v: 1, eventIndex: event.seq, sessionId: sessionOfRun(story.runId) };
        const decoded = runJournalSchema.decode({ ...draftOf(event), ...place });
        if (!decoded.ok) throw new Error(decoded.error);
        return runJournalSchema.snapshotRefs(decoded.value);
      });
      expect(refs).toEqual(beat.snapshots.map(nodeHasher));
    }
  });
});
