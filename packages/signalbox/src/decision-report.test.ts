import { approvalId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { memoryTerminal } from '../test/memory-terminal.ts';
import { describeDecision } from './decision-report.ts';
import { paintOf } from './terminal.ts';

const plain = paintOf(memoryTerminal());
const id = approvalId.parse('0190a0a0-0000-5000-8000-000000000000');
const shownOf = (proposal: Parameters<typeof describeDecision>[0]['decision']['proposal']) =>
  describeDecision({ run: 'r', decision: { id, kind: 'choice', status: 'open', node: 'n', proposal } }, plain);

describe('a decision', () => {
  it("[X32] about an agent's call shows its title, and says if the arguments are unknown", () => {
    const proposal = { tool: 'execute', title: 'rm -rf build', input: {}, missing: 'It sent no arguments.' };
    expect(shownOf(proposal)).toBe(`${id}  choice  n of run r\n  rm -rf build\n  It sent no arguments.`);
    const known = { tool: 'shell', title: 'List files', input: { command: 'ls' } };
    expect(shownOf(known)).toBe(`${id}  choice  n of run r\n  List files\n  shell {\n    "command": "ls"\n  }`);
  });

  it('[X32] with a diff shows its lines', () => {
    const proposal = { prompt: 'Apply?', context: { total: 1, diff: '--- a\n+++ b\n+hi' } };
    expect(shownOf(proposal)).toBe(
      `${id}  choice  n of run r\n  Apply?\n  {\n    "total": 1\n  }\n  --- a\n  +++ b\n  +hi`,
    );
  });

  it.each([['text'], [null], [['diff']]])('[X32] shows any other context as data: %j', context => {
    expect(shownOf({ prompt: 'Apply?', context })).toContain(JSON.stringify(context, null, 2).split('\n')[0]);
  });
});
