import type { PermissionOption } from '@agentclientprotocol/sdk';
import { describe, expect, it } from 'vitest';
import { permissionOf } from './permission.ts';

const options: readonly PermissionOption[] = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
  { optionId: 'never', name: 'Never', kind: 'reject_always' },
];
const chosen = (chosenOptionId: string, rationale: string) =>
  permissionOf(
    { resolutionType: 'choose_option', chosenOptionId, rationale, actionKind: 'update' },
    { toolCallId: 'c', title: 'Edit a.md', rawInput: {}, rawOutput: undefined },
    options,
  );

describe("one of the agent's own options", () => {
  it('[A815] that rejects a call carries the reason of the person to the agent', () => {
    expect(chosen('never', 'It is generated.')).toEqual({
      ...{ kind: 'deny', option: 'never', approval: 'choose_option' },
      reason: 'A person chose "Never". It is generated.',
      words: 'A person answered the call "Edit a.md" with "Never". It is generated.',
    });
    expect(chosen('no', ' ')).toEqual({
      ...{ kind: 'deny', option: 'no', approval: 'choose_option', reason: 'A person chose "No".' },
    });
  });
});
