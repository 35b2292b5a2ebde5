import { describe, expect, it } from 'vitest';
import { callWords, resultWords } from './call-words.ts';

describe('a tool call', () => {
  it('[K144] is said in words: what it does, to what, and the arguments that the words leave out', () => {
    const said = (tool: string, input: Parameters<typeof callWords>[1], title?: string) => {
      const { does, target, args, change } = callWords(tool, input, title);
      return { says: target === undefined ? does : `${does} ${target}`, args, change };
    };
    expect([
      said('read_file', { path: 'a.md', maxLines: 20 }),
      said('grep', { pattern: 'TODO', path: 'src' }),
      said('run_command', { command: ['npm', 'run', 'a b'], timeoutMs: 5 }),
      said('edit_file', { path: 'a.md', find: 'old', replaceWith: 'new' }),
      said('mcp__look-up', { who: 'Ada', exact: true, ids: [1, 2] }),
      said('Edit', { path: 'a.md' }, 'Edit a.md'),
      said('odd', null),
    ]).toEqual([
      { says: 'Read a.md', args: [['max lines', '20']], change: undefined },
      { says: 'Search for TODO in src', args: [], change: undefined },
      { says: "Run npm run 'a b'", args: [['timeout ms', '5']], change: undefined },
      { says: 'Edit a.md', args: [], change: { path: 'a.md', before: 'old', after: 'new' } },
      {
        says: 'mcp look up',
        args: [
          ['who', 'Ada'],
          ['exact', 'yes'],
          ['ids', '1, 2'],
        ],
        change: undefined,
      },
      { says: 'Edit a.md', args: [['path', 'a.md']], change: undefined },
      { says: 'odd', args: [], change: undefined },
    ]);
  });

  it('[K144] has its result as text, with the facts beside it', () => {
    expect([
      resultWords('plain'),
      resultWords({ text: 'one\ntwo\n', lines: 2, truncated: false }),
      resultWords({ stdout: 'out', stderr: 'err', exitCode: 1 }),
      resultWords(null),
      resultWords(7),
    ]).toEqual([
      { text: 'plain', facts: [] },
      {
        text: 'one\ntwo',
        facts: [
          ['lines', '2'],
          ['truncated', 'no'],
        ],
      },
      { text: 'out\nerr', facts: [['exit code', '1']] },
      { text: undefined, facts: [] },
      { text: '7', facts: [] },
    ]);
  });
});
