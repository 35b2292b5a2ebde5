import { describe, expect, it } from 'vitest';
import { toolSample } from '../../test/contract-samples.ts';
import { refusal, requiredFields } from '../../test/refusal.ts';
import { toolCall, toolError, toolResult } from './tool.ts';

describe('tool', () => {
  it('[M36] requires all of a call, and of a result whether it went well', () => {
    expect([
      requiredFields(toolCall, toolSample),
      requiredFields(toolResult, { ok: true, output: null }),
      requiredFields(toolError, { message: '' }),
    ]).toEqual([['id', 'name', 'args'], ['ok'], ['message']]);
  });

  it('[M36] gives arguments and output back as they came', () => {
    const args = JSON.parse('{"__proto__":{"a":1},"list":[1,"2",null]}');
    expect(JSON.stringify(toolCall.parse({ ...toolSample, args }))).toBe(JSON.stringify({ ...toolSample, args }));
    expect(toolResult.parse({ ok: false, output: [null, { a: 0.1 }] })).toEqual({
      ok: false,
      output: [null, { a: 0.1 }],
    });
  });

  it.each([
    ['a call with an id of the vendor', toolCall, { ...toolSample, id: 'call_1' }, 'id: invalid_format'],
    ['a call without a name', toolCall, { ...toolSample, name: '' }, 'name: too_small'],
    ['arguments that are a list', toolCall, { ...toolSample, args: [] }, 'args: custom'],
    ['arguments that are null', toolCall, { ...toolSample, args: null }, 'args: custom'],
    ['arguments that are no plain data', toolCall, { ...toolSample, args: { at: new Date(0) } }, 'args: custom'],
    ['an outcome that is a word', toolResult, { ok: 'true' }, 'ok: invalid_type'],
    ['an output that is no plain data', toolResult, { ok: true, output: Number.NaN }, 'output: custom'],
  ] as const)('[M36] refuses %s', (_, schema, value, problem) => {
    expect(refusal(schema, value)).toEqual([problem]);
  });
});
