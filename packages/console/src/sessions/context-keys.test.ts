import { describe, expect, it } from 'vitest';
import { contextKeys } from './context-keys.ts';

describe('what a workflow reads', () => {
  it('[K70] is what its texts ask for, without what its loops give', () => {
    const source = {
      id: 'project.fix',
      steps: [
        { id: 'a', prompt: 'Look at {{ticket.id}} of {{ project }}, turn {{currentIteration}}.' },
        { id: 'b', prompt: 'Again {{ticket.title}}. {{ not a path }} {{}} { {no} }' },
      ],
    };
    expect(contextKeys(source)).toEqual(['ticket', 'project']);
    expect(contextKeys({ id: 'project.none', steps: [] })).toEqual([]);
  });
});
