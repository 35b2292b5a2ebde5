import { describe, expect, it } from 'vitest';
import { contextKeys } from './context-keys.ts';

describe('the facts of a workflow', () => {
  it('[K70] are those its texts refer to, except those its loops provide', () => {
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
