import type { Json, JsonObject, WireDecision } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { headlineOf, questionOf } from './question.ts';

const decision = (kind: string, proposal: Json, tool: { name: string; args: JsonObject }, context?: string) =>
  ({ tool, ...(context !== undefined && { context }), decision: { kind, proposal } }) as unknown as WireDecision;
const call = (kind: string, name: string, args: JsonObject) =>
  decision(kind, { tool: name, input: args }, { name, args });

describe('a question', () => {
  it('[K15] about a command shows it as typed in a shell', () => {
    const asked = call('command_exec', 'run_command', { command: ['git', 'commit', '-m', "it's"], cwd: '/p' });
    const { command, shown } = questionOf(asked);
    expect([command, shown]).toEqual([`git commit -m 'it'\\''s'`, [['cwd', '/p']]]);
    expect(headlineOf(asked)).toBe(`Run git commit -m 'it'\\''s'`);
  });

  it('[K15] about a file shows its current and its proposed content', () => {
    const edit = call('file_edit', 'edit_file', { path: 'a.md', find: 'x', replaceWith: 'y' });
    expect(questionOf(edit)).toMatchObject({ changes: [{ path: 'a.md', before: 'x', after: 'y' }], shown: [] });
    expect(headlineOf(edit)).toBe('Change a.md');
    expect(headlineOf(call('file_edit', 'write_file', { path: 'b.md', content: 'y' }))).toBe('Write b.md');
  });

  it('[K15] with options shows its author’s notes on them', () => {
    const options = [{ id: 'a', label: 'All', risk: 'high', pros: ['fast'] }, { id: 'b' }, 'odd'];
    const asked = decision('choice', { prompt: 'Who?', options }, { name: 'choice', args: {} }, 'Who?');
    expect(questionOf(asked).wants).toEqual({
      kind: 'option',
      options: [
        {
          id: 'a',
          label: 'All',
          notes: [
            ['risk', 'high'],
            ['pros', '[\n "fast"\n]'],
          ],
        },
        { id: 'b', label: 'b', notes: [] },
      ],
    });
    expect(headlineOf(asked)).toBe('Who?');
  });

  it('[K15] that is unknown is shown unchanged', () => {
    const asked = call('external_api', 'post', { odd: [1], path: 7 });
    expect(questionOf(asked)).toMatchObject({
      command: undefined,
      changes: [],
      shown: [
        ['odd', '[\n 1\n]'],
        ['path', '7'],
      ],
    });
  });
});
