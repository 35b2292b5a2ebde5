import { describe, expect, it } from 'vitest';
import { sourceFields, withField } from './source-fields.ts';

describe('[K104] the fields of the schema', () => {
  it('are those of workflows and of steps, each once, with their meanings', () => {
    const text = (description: string) => ({ type: 'string', description });
    const schema = {
      type: 'object',
      properties: {
        id: text('Of the workflow.'),
        steps: { type: 'array', items: { $ref: '#/$defs/step' }, description: 'What the agent does.' },
        about: {},
      },
      required: ['id', 'steps'],
      $defs: {
        step: { anyOf: [{ properties: { id: text('Of the step.') }, required: ['id'] }, { $ref: '#/$defs/loop' }] },
        loop: { properties: { id: text('Of the loop.'), body: { $ref: '#/$defs/step' } } },
      },
    };
    expect(sourceFields(schema)).toEqual([
      { name: 'id', of: 'workflow', meaning: 'Of the workflow.', isNeeded: true },
      { name: 'steps', of: 'workflow', meaning: 'What the agent does.', isNeeded: true },
      { name: 'about', of: 'workflow', meaning: '', isNeeded: false },
      { name: 'id', of: 'step', meaning: 'Of the step.', isNeeded: true },
      { name: 'body', of: 'step', meaning: '', isNeeded: false },
    ]);
    expect([sourceFields(null), sourceFields({})]).toEqual([[], []]);
  });

  it.each([
    ['{}', 1],
    ['{"id": "a.b"}', 1],
    ['{"id": "a.b"}', 12],
    ['{"id": "a.b", "steps": []}', 13],
    ['{\n  "id": "a.b"\n}', 15],
  ])('put into %j at %d is still JSON, with the cursor in the value', (text, at) => {
    const put = withField(text, at, 'name');
    expect(JSON.parse(put.text)).toEqual({ ...JSON.parse(text), name: '' });
    expect(put.text.slice(put.cursor - 1, put.cursor + 1)).toBe('""');
  });
});
