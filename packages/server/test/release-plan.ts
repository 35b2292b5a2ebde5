import type { ScriptNode } from './scripted-host.ts';

/** A plan with a phase, an agent, a person and a branch. */
export const releasePlan: ScriptNode = {
  id: 'root',
  kind: 'plan',
  data: { name: 'release' },
  line: 4,
  children: [
    {
      id: 'make',
      kind: 'phase',
      data: { name: 'Make' },
      line: 6,
      children: [
        { id: 'build', kind: 'task', data: { label: 'Build', retries: 3 }, line: 7 },
        {
          id: 'review',
          kind: 'claude',
          data: { label: 'Review the change', prompt: 'Look at the diff.\nBe strict.', model: 'sonnet', retries: 3 },
          line: 8,
        },
      ],
    },
    { id: 'sign-off', kind: 'human', data: { prompt: 'May it go out?', retries: 0 }, line: 12 },
    {
      id: 'gate',
      kind: 'if',
      data: { condition: false },
      line: 13,
      children: [
        {
          id: 'gate-then',
          kind: 'branch',
          data: { name: 'then', taken: false },
          line: 13,
          children: [{ id: 'ship', kind: 'task', data: { label: 'Ship it', retries: 3 }, line: 14 }],
        },
      ],
    },
  ],
};
