import type { WireEvent } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { actWords } from './act-words.ts';

const words = (type: string, fields: object = {}) => actWords({ type, by: 'ada', ...fields } as unknown as WireEvent);

describe('a person’s action', () => {
  it('[K55] is described in words', () => {
    expect([
      words('operator.acted', { action: 'retry', node: 'a' }),
      words('operator.acted', { action: 'something new' }),
      words('state.edited', { key: 'shipping', reason: 'the customer waits' }),
      words('signal.received', { name: 'freeze' }),
      words('decision.answered', { resolution: { resolutionType: 'reject', rationale: 'not on a Friday' } }),
      words('decision.answered', {
        resolution: { resolutionType: 'choose_option', chosenOptionId: 'slow', rationale: '' },
      }),
      words('decision.answered'),
      words('call.undone', { tool: 'edit_file' }),
      words('run.rolled_back', { tool: 'edit_file' }),
      words('run.kept', { kept: true }),
      words('run.kept', { kept: false }),
      words('run.redacted', { name: 'TOKEN', why: 'it leaked' }),
      words('run.created'),
    ]).toEqual([
      'retried it',
      'something new',
      'edited shipping: the customer waits',
      'sent the signal freeze',
      'denied the request: not on a Friday',
      'chose slow',
      'answered the question',
      'undid edit_file',
      'rolled back to before edit_file',
      'kept it',
      'released it',
      'redacted TOKEN: it leaked',
      'started it',
    ]);
  });

  it('[K55] is the only kind described', () => {
    for (const type of ['frame.committed', 'node.status', 'task.ended', 'handler.ran'])
      expect(words(type)).toBeUndefined();
    expect(words('run.created', { by: undefined })).toBeUndefined();
  });
});
