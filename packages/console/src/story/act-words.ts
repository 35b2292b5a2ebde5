import type { InternalEventType, WireEvent } from '@signalbox/model';

/** What a person did, as an event tells it: `edited shipping: the customer waits`. Undefined where no person did it. */
export function actWords(event: WireEvent): string | undefined {
  return Object.hasOwn(acts, event.type) ? acts[event.type as InternalEventType](event) : undefined;
}

const nobody = () => undefined;

/** Every type of event that is ours; those of the contract tell of no person. */
const acts: { readonly [Type in InternalEventType]: (event: WireEvent) => string | undefined } = {
  'run.created': event => (textOf(event, 'by') === '' ? undefined : 'started it'),
  'run.claimed': nobody,
  'run.held': nobody,
  'run.resumed': nobody,
  'run.status': nobody,
  'frame.committed': nobody,
  'node.status': nobody,
  'state.changed': nobody,
  'task.started': nobody,
  'task.progressed': nobody,
  'task.ended': nobody,
  'task.retry': nobody,
  'task.orphaned': nobody,
  'handler.ran': nobody,
  'handler.failed': nobody,
  'effect.ran': nobody,
  'effect.cleaned': nobody,
  'effect.failed': nobody,
  'file.written': nobody,
  'decision.asked': nobody,
  'decision.proposed': nobody,
  'decision.answered': event => answerWords(event.resolution),
  'decision.withdrawn': nobody,
  'decision.delivered': nobody,
  'signal.received': event => `sent the signal ${textOf(event, 'name')}`,
  'operator.acted': event => pastOf[textOf(event, 'action')] ?? textOf(event, 'action'),
  'run.forked': () => 'forked it off',
  'state.edited': event => `edited ${textOf(event, 'key')}: ${textOf(event, 'reason')}`,
  'node.policy': () => 'set other rules for its retries',
  'message.said': nobody,
  'call.proposed': nobody,
  'call.began': nobody,
  'call.ended': nobody,
  'call.undone': event =>
    event.kept === true ? `brought back what was kept of ${textOf(event, 'tool')}` : `undid ${textOf(event, 'tool')}`,
  'run.rolled_back': event => `rolled back to ${event.after === true ? 'after' : 'before'} ${textOf(event, 'tool')}`,
  'run.kept': event => (event.kept === true ? 'wants it kept for ever' : 'lets it be collected again'),
  'event.gone': nobody,
  'run.redacted': event => `took ${textOf(event, 'name')} out of it: ${textOf(event, 'why')}`,
  'run.collapsed': () => 'had frames of it collected',
  'run.imported': () => 'imported it',
  'usage.recorded': nobody,
};

function textOf(event: WireEvent, field: string): string {
  const value = event[field];
  return typeof value === 'string' ? value : '';
}

/** How a question was answered, with why where the person said it. */
function answerWords(resolution: unknown): string {
  const { resolutionType, chosenOptionId, value, rationale } = (resolution ?? {}) as Readonly<Record<string, unknown>>;
  const how = (value === undefined && answerOf[String(resolutionType)]) || 'answered what was asked';
  const which = resolutionType === 'choose_option' && typeof chosenOptionId === 'string' ? ` ${chosenOptionId}` : '';
  return `${how}${which}${typeof rationale === 'string' && rationale !== '' ? `: ${rationale}` : ''}`;
}

const answerOf: Readonly<Record<string, string>> = {
  approve: 'approved what was asked',
  reject: 'denied what was asked',
  modify: 'approved it with a change',
  choose_option: 'chose',
};

const pastOf: Readonly<Record<string, string>> = {
  pause: 'paused it',
  resume: 'resumed it',
  stop: 'stopped it',
  terminate: 'terminated it',
  retry: 'ran it again',
  cancel: 'canceled it',
  reset: 'reset its counter',
};
