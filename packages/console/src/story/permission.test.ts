import type { Json, WireDecision } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { headlineOf, questionOf } from './question.ts';

const asked = (proposal: Json, kind = 'file_edit') =>
  ({ tool: { name: 'Edit', args: {} }, decision: { kind, proposal } }) as unknown as WireDecision;
const agent = { id: 'claude', title: 'Claude Code', version: '1.2.3' };
const once = { id: 'yes', label: 'Yes', kind: 'allow_once' };
const always = { id: 'forever', label: 'Yes, and do not ask again', kind: 'allow_always' };
const no = { id: 'no', label: 'No', kind: 'reject_once' };

describe('a permission request', () => {
  it('[K99] shows everything that the agent sent', () => {
    const request = asked({
      ...{ tool: 'Edit', title: 'Edit a.md', kind: 'edit', input: {}, agent, options: [once, no] },
      locations: [{ path: '/p/a.md', line: 3 }, { path: '/p/b.md' }, 'odd'],
      diffs: [{ path: '/p/a.md', oldText: 'x', newText: 'y' }, { path: '/p/b.md', newText: 'z' }, { path: 7 }],
      missing: 'Claude Code did not send the arguments.',
      text: 'It is small.',
    });
    expect(questionOf(request)).toMatchObject({
      agent: { title: 'Claude Code', version: '1.2.3' },
      title: 'Edit a.md',
      toolKind: 'edit',
      locations: ['/p/a.md:3', '/p/b.md'],
      changes: [
        { path: '/p/a.md', before: 'x', after: 'y' },
        { path: '/p/b.md', before: '', after: 'z' },
      ],
      missing: 'Claude Code did not send the arguments.',
      shown: [['text', 'It is small.']],
      // Arguments that nobody knows cannot be changed.
      args: undefined,
    });
    expect(headlineOf(request)).toBe('Edit a.md');
  });

  it('[K99] offers the options of the agent by id, each with what it does', () => {
    const { wants } = questionOf(
      asked({ tool: 'Edit', kind: 'edit', title: 'Edit a.md', agent, options: [once, always, no] }),
    );
    expect(wants).toEqual({
      kind: 'permission',
      options: [
        { ...once, does: 'Runs this call. The next one is asked about again.' },
        {
          ...always,
          does: 'Runs this call, and later calls of the exact tool “Edit” of Claude Code in this session without asking. Nothing else.',
        },
        { ...no, does: 'Does not run this call. Claude Code continues without it.' },
      ],
    });
  });

  it('[K99] offers to allow always where the agent does not, for exactly the call that it can tell apart', () => {
    const { wants } = questionOf(asked({ tool: 'execute', kind: 'execute', title: 'ls', agent, options: [once, no] }));
    expect(wants.kind === 'permission' && wants.options[2]).toEqual({
      ...{ id: undefined, label: 'Always allow', kind: 'allow_always' },
      does: 'Runs this call, and later calls with exactly the title “ls” of Claude Code in this session without asking. Nothing else.',
    });
  });

  it('[K99] with options of no known kind can be approved or denied', () => {
    expect(questionOf(asked({ tool: 'x', agent, options: [{ id: 'odd', kind: 'maybe' }, 'odd'] })).wants).toEqual({
      kind: 'approval',
    });
  });

  it('[K101] and a question of an agent name the agent', () => {
    const question = asked({ prompt: 'Which?', options: [{ id: 'a', label: 'A' }], context: { agent } }, 'choice');
    expect(questionOf(question)).toMatchObject({
      agent: { title: 'Claude Code' },
      shown: [],
      wants: { kind: 'option' },
    });
  });
});

describe('held changes', () => {
  const held = (context: Json, ids: readonly string[]) =>
    questionOf(asked({ prompt: 'Apply?', options: ids.map(id => ({ id, label: id })), context }, 'choice'));

  it('[K100] are shown as a patch, with what applying and dropping them does', () => {
    const question = held({ directory: '/p', paths: ['a.md', 'b.png'], total: 2, diff: 'diff --git a.md a.md' }, [
      'apply-all',
      'drop',
    ]);
    expect(question.held).toEqual({
      ...{ directory: '/p', total: 2, paths: ['a.md', 'b.png'], conflicts: [] },
      patch: 'diff --git a.md a.md',
    });
    expect(question.shown).toEqual([]);
    expect(question.wants.kind === 'option' && question.wants.options.map(({ does }) => does)).toEqual([
      'Writes these changes to /p, all of them or none.',
      'Discards all of these changes. Nothing in the directory changes.',
    ]);
  });

  it('[K100] that conflict name the paths and what someone else did', () => {
    const conflicts = [
      { path: 'a.md', theirs: 'created or changed', yours: {}, command: { size: 7 } },
      { path: 'b.md', theirs: 'in-use', yours: null, command: null },
      'odd',
    ];
    const question = held({ directory: '/p', changes: 3, conflicts, total: 2 }, ['apply-rest', 'apply-all', 'drop']);
    expect(question.held?.conflicts).toEqual([
      { path: 'a.md', theirs: 'created or changed', ours: 'writes it (7 bytes)' },
      { path: 'b.md', theirs: 'in use', ours: 'removes it' },
    ]);
  });
});
