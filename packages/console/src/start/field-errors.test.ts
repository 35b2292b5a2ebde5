import { describe, expect, it } from 'vitest';
import { fieldErrorOf } from './field-errors.ts';

describe('an input error', () => {
  const fields = ['version', 'parts'];

  it('[K63] is shown at its field', () => {
    const error = (message: string) => fieldErrorOf({ code: 'plan/input-invalid', message }, fields);
    expect(error('version: expected string, received number')).toEqual({
      field: 'version',
      why: 'expected string, received number',
    });
    const refused = 'The plan release does not take this input: version: Invalid input: expected string.';
    expect(fieldErrorOf({ code: 'command/usage', message: refused }, fields)).toEqual({
      field: 'version',
      why: 'Invalid input: expected string.',
    });
    expect(error('The input is not what the plan takes: input.parts.0: too small')).toEqual({
      field: 'parts',
      why: '0: too small',
    });
  });

  it('[K63] is shown for the whole form if it is about no field', () => {
    expect(fieldErrorOf({ code: 'plan/input-invalid', message: 'other: x' }, fields)).toBeUndefined();
    expect(fieldErrorOf({ code: 'plan/load-failed', message: 'version: x' }, fields)).toBeUndefined();
  });
});
