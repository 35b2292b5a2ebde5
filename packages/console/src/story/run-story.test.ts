import type { News } from '@signalbox/client';
import type { RunId, RunSnapshot, TreeNode, WireChunk, WireEvent } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { EVENTS_KEPT, emptyStory, type RunStory, toldStory, withEvents, withSpeech } from './run-story.ts';

const run = '01890000-0000-7000-8000-00000000dead' as RunId;
const event = (seq: number, fields: object = {}) =>
  ({ seq, type: 'x', ts: '2026-01-01T00:00:00Z', ...fields }) as WireEvent;
const node = (id: string, status: TreeNode['status'] = 'idle') => ({ id, status, index: 0 }) as TreeNode;
const chunk = (index: number, payload: string) => ({ index, kind: 'token', payload }) as WireChunk;
const told = (...news: readonly unknown[]): RunStory => (news as readonly News[]).reduce(toldStory, emptyStory);
const state = (next: number, tree: readonly TreeNode[] = []) => ({
  kind: 'state',
  run,
  next,
  snapshot: { tree, decisions: [], tasks: [], record: {} } as unknown as RunSnapshot,
});
const stored = (seq: number) => ({ kind: 'event', run, stored: { event: event(seq) } });
const seqs = ({ events }: RunStory) => events.map(({ seq }) => seq);

describe('the story of a run', () => {
  it('[K4] replaces nodes that changed and forgets those that left', () => {
    const story = told(state(0, [node('a'), node('b')]), {
      kind: 'nodes',
      run,
      put: [node('a', 'running'), node('c')],
      gone: ['b'],
    });
    expect([...story.nodes.values()]).toEqual([node('a', 'running'), node('c')]);
  });

  it('[K8] has each event once, in order, whichever arrives first: later or earlier ones', () => {
    const before = [event(3), event(4)];
    expect(seqs(withEvents(told(state(5), stored(5), stored(6)), before))).toEqual([3, 4, 5, 6]);
    expect(seqs(withEvents(told(state(5)), before))).toEqual([3, 4]);
    expect(seqs(withEvents(withEvents(told(state(5), stored(5)), before), before))).toEqual([3, 4, 5]);
  });

  it('[K8] continues after a reconnect, and starts over after a gap', () => {
    expect(seqs(told(state(0), stored(0), stored(1), state(2), stored(2)))).toEqual([0, 1, 2]);
    expect(seqs(told(state(0), stored(0), state(7), stored(7)))).toEqual([7]);
  });

  it('[K8] keeps the last events only', () => {
    const many = Array.from({ length: EVENTS_KEPT + 50 }, (_, seq) => event(seq));
    expect(seqs(withEvents(emptyStory, many))).toEqual(many.slice(50).map(({ seq }) => seq));
  });

  it('[K9] marks the frames on the way', () => {
    const committed = (seq: number, frame: number) =>
      event(seq, { type: 'frame.committed', frame, trigger: { kind: 'task' } });
    const story = withEvents(withEvents(emptyStory, [committed(5, 2)]), [
      committed(1, 0),
      committed(3, 1),
      committed(5, 2),
    ]);
    expect(story.frames.map(({ index, trigger }) => [index, trigger])).toEqual([
      [0, 'task'],
      [1, 'task'],
      [2, 'task'],
    ]);
  });

  it('[K10] joins agent output: each part once, none out of order', () => {
    const once = withSpeech(emptyStory, 't', [chunk(0, 'I '), chunk(1, 'look')], 2);
    const again = withSpeech(once, 't', [chunk(1, 'look'), chunk(2, ' at it')], 3);
    expect(again.speech.get('t')).toEqual({ text: 'I look at it', next: 3 });
    expect(withSpeech(again, 't', [chunk(5, 'later')], 6)).toBe(again);
    expect(withSpeech(again, 't', [chunk(2, ' at it')], 3)).toBe(again);
  });
});
