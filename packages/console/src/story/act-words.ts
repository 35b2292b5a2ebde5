import type { WireEvent } from '@signalbox/model';

/** What a person did, as an event tells it: `edited shipping: the customer waits`. Undefined where no person did it. */
export function actWords(event: WireEvent): string | undefined {
  const text = (field: string): string => {
    const value = event[field];
    return typeof value === 'string' ? value : '';
  };
  switch (event.type) {
    case 'operator.acted':
      return pastOf[text('action')] ?? text('action');
    case 'decision.answered':
      return answerWords(event.resolution);
    case 'signal.received':
      return `sent the signal ${text('name')}`;
    case 'state.edited':
      return `edited ${text('key')}: ${text('reason')}`;
    case 'node.policy':
      return 'set other rules for its retries';
    case 'call.undone':
      return event.kept === true ? `brought back what was kept of ${text('tool')}` : `undid ${text('tool')}`;
    case 'run.rolled_back':
      return `rolled back to ${event.after === true ? 'after' : 'before'} ${text('tool')}`;
    case 'run.created':
      return text('by') === '' ? undefined : 'started it';
    case 'run.forked':
      return 'forked it off';
    case 'run.imported':
      return 'imported it';
    case 'run.kept':
      return event.kept === true ? 'wants it kept for ever' : 'lets it be collected again';
    case 'run.collapsed':
      return 'had frames of it collected';
    case 'run.redacted':
      return `took ${text('name')} out of it: ${text('why')}`;
    default:
      return undefined;
  }
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
