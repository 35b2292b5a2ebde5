import { describe, expect, it } from 'vitest';
import { refusal } from '../../test/refusal.ts';
import { approvalResolution } from './approval.ts';

describe('approval resolution', () => {
  it.each([{ status: 'approved' }, { status: 'denied' }, { status: 'modified', modifiedArgs: { cmd: 'ls' } }])(
    '[M37] takes %j',
    value => {
      expect(approvalResolution.parse(value)).toEqual(value);
    },
  );

  it('[M37] takes empty arguments', () => {
    expect(approvalResolution.parse({ status: 'modified', modifiedArgs: {} })).toEqual({
      status: 'modified',
      modifiedArgs: {},
    });
  });

  it.each([
    ['modified without arguments', { status: 'modified' }, 'modifiedArgs: custom'],
    ['arguments that are a list', { status: 'modified', modifiedArgs: [] }, 'modifiedArgs: custom'],
    ['approved with arguments', { status: 'approved', modifiedArgs: {} }, ': unrecognized_keys'],
    ['denied with arguments', { status: 'denied', modifiedArgs: {} }, ': unrecognized_keys'],
    ['another status', { status: 'approve' }, 'status: invalid_union'],
    ['no status', {}, 'status: invalid_union'],
  ])('[M37] refuses %s', (_, value, problem) => {
    expect(refusal(approvalResolution, value)).toEqual([problem]);
  });
});
