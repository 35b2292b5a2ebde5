import { describe, expect, it } from 'vitest';
import type { FrameMark } from '../story/run-story.ts';
import { PLACES, trackOf } from './track.ts';

const mark = (index: number, trigger: string, changes: number): FrameMark => ({
  index,
  at: '2026-01-01T00:00:00Z',
  trigger,
  changes,
});
const bars = (path: string) => path.split('z').length - 1;

describe('the timeline', () => {
  it('[K32] has a bar for each frame, by its cause', () => {
    const frames = Array.from({ length: 22 }, (_, index) => mark(index, index === 7 ? 'decision' : 'task', 1));
    const { own, task, person } = trackOf([mark(0, 'start', 0), ...frames.slice(1)]);
    expect([bars(own), bars(task), bars(person)]).toEqual([1, 20, 1]);
  });

  it('[K32] shares places if there are more frames than places, and loses no person’s frame', () => {
    const frames = Array.from({ length: 10_000 }, (_, index) => mark(index, index === 5_001 ? 'operator' : 'task', 1));
    const { own, task, person } = trackOf(frames);
    expect([bars(own), bars(task), bars(person)]).toEqual([0, PLACES - 1, 1]);
  });

  it('[K32] is higher where more changed', () => {
    const height = (changes: number) =>
      Number(/1v-([\d.]+)/.exec(trackOf([mark(0, 'task', changes), mark(1, 'decision', 9)]).task)?.[1]);
    expect(height(0)).toBeLessThan(height(3));
    expect(height(3)).toBeLessThan(height(9));
    expect(trackOf([])).toEqual({ own: '', task: '', person: '' });
  });
});
