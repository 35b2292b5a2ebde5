import { lasted, many } from '../story/words.ts';
import type { Gap, Lane, SpanKind } from './run-spans.ts';

/** Every text of the timeline. */
export const timeWords = {
  name: 'Timeline',
  loading: 'Loading times…',
  empty: 'No work yet',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  whole: 'Show all',
  legend: 'Legend',
  keys: 'Plus and minus zoom, the arrow keys move, 0 shows everything.',
  failed: 'Could not load times',
} as const;

export const spanWords: Readonly<Record<SpanKind, string>> = {
  queued: 'Waiting to start',
  work: 'Working',
  done: 'Finished work',
  failed: 'Failed attempt',
  retry: 'Waiting to retry',
  person: 'Needs you',
  turn: 'Turn of the model',
};

export const gapWords: Readonly<Record<Gap['kind'], string>> = {
  paused: 'Paused',
  crash: 'Process was gone',
};

/** A lane in one sentence, for who cannot see it. */
export function laneWords({ label, ms, retries, spans }: Lane): string {
  const waited = spans.filter(({ kind }) => kind === 'person').reduce((sum, { from, to }) => sum + to - from, 0);
  return [
    `${label}: worked ${lasted(ms)}`,
    ...(retries > 0 ? [many(retries, 'retry', 'retries')] : []),
    ...(waited > 0 ? [`waited ${lasted(waited)} for a person`] : []),
  ].join(', ');
}
