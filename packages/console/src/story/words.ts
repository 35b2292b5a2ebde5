import {
  isDenied,
  type NodeStatus,
  nodeStatus,
  type RunStatus,
  type RunSummary,
  timerDue,
  type WireEvent,
} from '@signalbox/model';
import type { Settings } from '../settings/read-settings.ts';

/** What a lamp shows: one status per thing. `waiting` needs the person who looks, and nothing else does; `person` is what a person did. */
export type Signal = 'idle' | 'next' | 'working' | 'waiting' | 'held' | 'done' | 'failed' | 'skipped' | 'person';

export interface Standing {
  readonly signal: Signal;
  readonly word: string;
}

/** The status of a run, in plain words. */
export function runStanding({ record, openDecisions, until }: RunSummary): Standing {
  const isAsking = record.status === 'running' && openDecisions > 0;
  if (isAsking) return { signal: 'waiting', word: 'working, needs you' };
  if (record.interrupted === true) return { signal: 'held', word: 'interrupted' };
  return until === undefined ? storedStanding(record.status) : { signal: 'held', word: untilWords(until) };
}

/** The status of a run when nothing else is known about it. */
export function storedStanding(status: RunStatus): Standing {
  switch (status) {
    case 'queued':
      return { signal: 'next', word: 'queued' };
    case 'running':
      return { signal: 'working', word: 'working' };
    case 'waiting':
      return { signal: 'waiting', word: 'needs you' };
    case 'paused':
      return { signal: 'held', word: 'paused' };
    case 'stalled':
      return { signal: 'held', word: 'stalled' };
    case 'completed':
      return { signal: 'done', word: 'completed' };
    case 'failed':
      return { signal: 'failed', word: 'failed' };
    case 'stopped':
      return { signal: 'failed', word: 'stopped' };
  }
}

const nodeStandings: Record<NodeStatus, Standing> = {
  idle: { signal: 'idle', word: 'not started' },
  scheduled: { signal: 'next', word: 'scheduled' },
  running: { signal: 'working', word: 'working' },
  succeeded: { signal: 'done', word: 'succeeded' },
  failed: { signal: 'failed', word: 'failed' },
  blocked: { signal: 'waiting', word: 'blocked' },
  canceled: { signal: 'skipped', word: 'canceled' },
  abandoned: { signal: 'failed', word: 'abandoned' },
  skipped: { signal: 'skipped', word: 'not taken' },
};

export function nodeStanding(status: NodeStatus, reason?: string | undefined): Standing {
  if (isDenied(reason)) return { signal: 'failed', word: 'denied' };
  if (reason === 'interrupted') return { signal: 'held', word: 'interrupted' };
  // It goes on by itself: what needs a person looks different.
  if (status === 'blocked' && (reason === 'rate_limit' || reason === 'sub_plan_paused'))
    return { signal: 'held', word: 'blocked' };
  if (reason === 'held_below') return { signal: 'held', word: 'waits' };
  return timerDue(reason) === undefined ? nodeStandings[status] : { signal: 'held', word: 'waits' };
}

/** That something waits for a named time. */
export function untilWords(due: string): string {
  return `waits until ${localMoment.format(Date.parse(due))}`;
}

/** A status in an event; unknown ones count as not started. */
export function statusOf(given: unknown): NodeStatus {
  const found = nodeStatus.safeParse(given);
  return found.success ? found.data : 'idle';
}

/** The person who acted, if a person did. */
export function doerOf({ by }: WireEvent): string | undefined {
  return typeof by === 'string' && by !== '' ? by : undefined;
}

/** The most important fields of an event, on one line. */
export function eventLine(event: WireEvent): string {
  const shown = [
    'node',
    'key',
    'frame',
    'from',
    'to',
    'outcome',
    'action',
    'name',
    'kind',
    'handler',
    'tool',
    'reason',
    'stopReason',
    'blockReason',
    'phase',
  ];
  return shown
    .flatMap(field => {
      const value = event[field];
      return typeof value === 'string' || typeof value === 'number' ? [`${field} ${value}`] : [];
    })
    .join('  ');
}

/** An elapsed time, in the largest useful units. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes < 10 ? `${minutes} min ${seconds % 60} s` : `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

/** A duration that is over; durations under a second are shown in milliseconds. */
export function lasted(ms: number): string {
  return ms < 1000 ? `${Math.max(0, Math.round(ms))} ms` : span(ms);
}

/** How long ago, in one unit: smaller ones would change while being read. */
export function ago(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 1) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`;
}

// Created once: creating a formatter takes longer than using it a hundred times.
const localClock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const localMoment = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });

export function clockTime(at: string, time: Settings['time'] = 'local'): string {
  return time === 'utc' ? at.slice(11, 19) : localClock.format(new Date(at));
}

/** A time in the format of the settings. */
export function momentWords(at: string, time: Settings['time'], now: number): string {
  const then = Date.parse(at);
  switch (time) {
    case 'relative':
      return ago(now - then);
    case 'local':
      return localMoment.format(then);
    case 'utc':
      return `${new Date(then).toISOString().slice(0, 19).replace('T', ' ')}Z`;
  }
}

/** A count with its noun. */
export function many(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}

export function money(microUsd: number): string {
  const dollars = microUsd / 1e6;
  return `$${dollars.toFixed(dollars !== 0 && dollars < 1 ? 4 : 2)}`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 1e6 ? `${(count / 1000).toFixed(1)} k` : `${(count / 1e6).toFixed(2)} M`;
}
