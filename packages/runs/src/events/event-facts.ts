import type { ThrownPlace } from '@signalbox/model';
import type { InternalEvent, InternalEventType } from './internal-event.ts';
import type { AnyEvent } from './stored-event.ts';

type EventOf<Type extends InternalEventType> = Extract<InternalEvent, { readonly type: Type }>;
type Level = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/** What a kind of event means to its readers. */
interface EventFacts<Event> {
  /** Its log level. */
  readonly level: Level | ((event: Event) => Level);
  /** Its log message; undefined if the type says everything. */
  readonly words: ((event: Event) => string) | undefined;
  /** Whether its frame is kept when an old run is collapsed. */
  readonly keepsFrame: boolean | ((event: Event) => boolean);
  /** Whether watching the run in a terminal shows a line for it. */
  readonly isShown: boolean;
  /** Whether a replay reads a run's input between two frames from it; all other events are derived, or read elsewhere. */
  readonly isReplayed: boolean;
}

const quiet = { level: 'debug', words: undefined, keepsFrame: false, isShown: false, isReplayed: false } as const;
const plain = { ...quiet, level: 'info' } as const;
const because = (text: string | undefined) => (text === undefined ? '' : `: ${text}`);
const at = (thrown: ThrownPlace | undefined) =>
  thrown === undefined ? '' : ` at ${thrown.file}:${thrown.line}:${thrown.column}`;

/** Every kind of internal event. A new one does not compile until its entry is complete. */
export const eventFacts = {
  'run.created': plain,
  'run.claimed': quiet,
  'run.held': { ...plain, level: 'warn' },
  'run.resumed': { ...plain, isShown: true },
  'run.status': {
    ...plain,
    level({ to, error }) {
      if (to === 'failed') return error?.code === 'thread-lost' ? 'fatal' : 'error';
      return to === 'stalled' || to === 'stopped' ? 'warn' : 'info';
    },
    words: ({ from, to, stopReason, error }) =>
      `the run went from ${from} to ${to}${because(stopReason)}${because(error?.message)}${at(error?.thrown)}`,
    keepsFrame: ({ to }) => to === 'failed' || to === 'stalled' || to === 'stopped',
  },
  'frame.committed': {
    ...quiet,
    words: ({ frame, trigger, mounted, unmounted }) =>
      `frame ${frame}, because of ${trigger.kind}: ${mounted} came, ${unmounted} left`,
  },
  'node.status': {
    ...plain,
    level: ({ to }) => (to === 'failed' || to === 'abandoned' ? 'error' : to === 'blocked' ? 'info' : 'debug'),
    words: ({ from, to, blockReason }) => `went from ${from} to ${to}${because(blockReason)}`,
    keepsFrame: ({ to }) => to === 'failed' || to === 'abandoned' || to === 'blocked',
    isShown: true,
  },
  'state.changed': { ...quiet, words: ({ key, frame }) => `'${key}' changed in frame ${frame}` },
  'task.started': {
    ...plain,
    words: ({ attempt, iteration }) => `attempt ${attempt} began${iteration === 0 ? '' : `, turn ${iteration + 1}`}`,
    isShown: true,
  },
  'task.progressed': { ...quiet, isReplayed: true },
  'task.ended': {
    level: ({ outcome }) => (outcome === 'error' ? 'error' : 'info'),
    words: ({ attempt, outcome, error }) =>
      `attempt ${attempt} ended: ${outcome}${error === undefined ? '' : `, ${error.message}${at(error.thrown)}`}`,
    keepsFrame: ({ outcome }) => outcome === 'error',
    isShown: true,
    isReplayed: true,
  },
  'task.retry': {
    level: 'warn',
    words: ({ attempt, retryAt, error }) =>
      `attempt ${attempt} failed, again at ${retryAt}: ${error.message}${at(error.thrown)}`,
    keepsFrame: true,
    isShown: true,
    isReplayed: true,
  },
  'task.orphaned': {
    level: 'warn',
    words: ({ action }) => `its process ended before it did: ${action}`,
    keepsFrame: true,
    isShown: true,
    isReplayed: true,
  },
  'handler.ran': { ...quiet, isReplayed: true },
  'handler.failed': {
    level: 'error',
    words: ({ frame, error, thrown }) => `handler failed in frame ${frame}: ${error}${at(thrown)}`,
    keepsFrame: true,
    isShown: true,
    isReplayed: true,
  },
  'effect.ran': quiet,
  'effect.cleaned': quiet,
  'effect.failed': {
    ...plain,
    level: 'error',
    words: ({ frame, error, thrown }) => `effect failed in frame ${frame}: ${error}${at(thrown)}`,
    keepsFrame: true,
  },
  'file.written': plain,
  'decision.asked': { ...plain, words: ({ kind }) => `a person is asked: ${kind}`, keepsFrame: true },
  'decision.proposed': { ...plain, keepsFrame: true },
  'decision.answered': {
    ...plain,
    words: ({ by, resolution }) => `${by} answered: ${resolution.resolutionType}`,
    keepsFrame: true,
  },
  'decision.withdrawn': { ...plain, keepsFrame: true },
  'decision.delivered': quiet,
  'signal.received': { ...plain, words: ({ name, by }) => `signal '${name}' came from ${by}`, keepsFrame: true },
  'operator.acted': {
    ...plain,
    words: ({ by, action }) => `${by} did: ${action}`,
    keepsFrame: true,
    isReplayed: true,
  },
  'run.forked': plain,
  'state.edited': { ...plain, isReplayed: true },
  'node.policy': plain,
  'message.said': quiet,
  'call.proposed': quiet,
  'call.began': plain,
  'call.ended': { ...plain, level: ({ outcome }) => (outcome === 'succeeded' ? 'info' : 'warn') },
  'call.undone': { ...plain, level: 'warn' },
  'run.rolled_back': { ...plain, level: 'warn' },
  'run.kept': plain,
  'event.gone': { ...quiet, words: () => 'an event of a frame that was collected' },
  'run.redacted': {
    ...plain,
    level: 'warn',
    words: ({ by, name, records, why }) => `${by} took ${name} out of ${records.length} records: ${why}`,
  },
  'run.collapsed': plain,
  'run.imported': plain,
  'usage.recorded': quiet,
  'model.called': { ...quiet, words: ({ provider, model }) => `${provider}:${model} was called` },
  'model.answered': {
    ...quiet,
    level: ({ outcome }) => (outcome === 'answered' ? 'debug' : 'warn'),
    words: ({ provider, model, outcome, status, unknown }) => {
      const how = status === undefined ? '' : ` with status ${status}`;
      const lacks = unknown.length === 0 ? '' : `; its ${unknown.join(' and ')} is estimated`;
      return `the call of ${provider}:${model} was ${outcome}${how}${lacks}`;
    },
  },
  'model.refused': {
    ...plain,
    level: 'warn',
    words: ({ provider, model, reason }) => `a call of ${provider}:${model} was refused: ${reason}`,
    isShown: true,
  },
} as const satisfies { readonly [Type in InternalEventType]: EventFacts<EventOf<Type>> };

/** Undefined for the contract's own events. */
export function factsOfEvent(event: AnyEvent): EventFacts<never> | undefined {
  return Object.hasOwn(eventFacts, event.type) ? eventFacts[event.type as InternalEventType] : undefined;
}

type Marked<Mark extends 'isShown' | 'isReplayed'> = {
  [Type in InternalEventType]: (typeof eventFacts)[Type][Mark] extends true ? EventOf<Type> : never;
}[InternalEventType];

export function isShownEvent(event: AnyEvent): event is Marked<'isShown'> {
  return factsOfEvent(event)?.isShown === true;
}

export function isReplayedEvent(event: AnyEvent): event is Marked<'isReplayed'> {
  return factsOfEvent(event)?.isReplayed === true;
}
