import type { InternalEventType, WireEvent } from '@signalbox/model';

/** A person's action in an event, as text: `edited shipping: the customer waits`. Undefined if no person acted. */
export function actWords(event: WireEvent): string | undefined {
  return Object.hasOwn(acts, event.type) ? acts[event.type as InternalEventType](event) : undefined;
}

const nobody = () => undefined;

/** Every internal event type; contract events record no person. */
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
  'run.forked': () => 'forked it',
  'state.edited': event => `edited ${textOf(event, 'key')}: ${textOf(event, 'reason')}`,
  'node.policy': () => 'changed its retry policy',
  'message.said': nobody,
  'call.proposed': nobody,
  'call.began': nobody,
  'call.ended': nobody,
  'call.undone': event =>
    event.kept === true ? `brought back the kept files of ${textOf(event, 'tool')}` : `undid ${textOf(event, 'tool')}`,
  'run.rolled_back': event => `rolled back to ${event.after === true ? 'after' : 'before'} ${textOf(event, 'tool')}`,
  'run.kept': event => (event.kept === true ? 'kept it' : 'released it'),
  'event.gone': nobody,
  'run.redacted': event => `redacted ${textOf(event, 'name')}: ${textOf(event, 'why')}`,
  'run.collapsed': () => 'collected frames of it',
  'run.imported': () => 'imported it',
  'usage.recorded': nobody,
  'model.called': nobody,
  'model.answered': nobody,
  'model.refused': nobody,
};

function textOf(event: WireEvent, field: string): string {
  const value = event[field];
  return typeof value === 'string' ? value : '';
}

/** The answer to a question, with the reason if given. */
function answerWords(resolution: unknown): string {
  const { resolutionType, chosenOptionId, value, rationale } = (resolution ?? {}) as Readonly<Record<string, unknown>>;
  const how = (value === undefined && answerOf[String(resolutionType)]) || 'answered the question';
  const which = resolutionType === 'choose_option' && typeof chosenOptionId === 'string' ? ` ${chosenOptionId}` : '';
  return `${how}${which}${typeof rationale === 'string' && rationale !== '' ? `: ${rationale}` : ''}`;
}

const answerOf: Readonly<Record<string, string>> = {
  approve: 'approved the request',
  reject: 'denied the request',
  modify: 'approved it with changes',
  choose_option: 'chose',
};

const pastOf: Readonly<Record<string, string>> = {
  pause: 'paused it',
  resume: 'resumed it',
  stop: 'stopped it',
  terminate: 'terminated it',
  retry: 'retried it',
  cancel: 'canceled it',
  reset: 'reset its counter',
};
