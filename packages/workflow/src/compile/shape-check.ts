import { canonicalJson, tryCanonicalJson } from '@signalbox/model';
import type { Shape, ShapeField } from './shape.ts';
import { pointerToken } from './source-copy.ts';

/** One way in which a value does not fit a shape; `path` is a JSON pointer into the value. */
export interface ShapeFault {
  readonly path: string;
  readonly reason: string;
}

const MAX_FAULTS = 20;

/** All differences between a value and a shape, in the order of the shape; empty if it fits. */
export function shapeFaults(shape: Shape, value: unknown): readonly ShapeFault[] {
  const faults: ShapeFault[] = [];
  check(shape, value, '', faults);
  return faults.slice(0, MAX_FAULTS);
}

function check(shape: Shape, value: unknown, path: string, faults: ShapeFault[]): undefined {
  const fault = (reason: string): undefined => {
    if (faults.length < MAX_FAULTS) faults.push({ path, reason });
  };
  switch (shape.type) {
    case 'any':
      return;
    case 'text':
      if (typeof value !== 'string') return fault('must be a text');
      return sizeFault(shape, value.trim().length, 'characters', fault);
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return fault('must be a number');
      if (shape.type === 'integer' && !Number.isInteger(value)) return fault('must be a whole number');
      if (shape.min !== undefined && value < shape.min) return fault(`must be at least ${shape.min}`);
      if (shape.max !== undefined && value > shape.max) return fault(`must be at most ${shape.max}`);
      return;
    case 'boolean':
      return typeof value === 'boolean' ? undefined : fault('must be true or false');
    case 'null':
      return value === null ? undefined : fault('must be null');
    case 'one_of': {
      const given = tryCanonicalJson(value);
      const text = given.ok ? given.value : undefined;
      if (shape.values.some(allowed => canonicalJson(allowed) === text)) return;
      return fault(`must be ${shape.values.map(allowed => JSON.stringify(allowed)).join(' or ')}`);
    }
    case 'list':
      if (!Array.isArray(value)) return fault('must be a list');
      sizeFault(shape, value.length, 'items', fault);
      for (const [index, item] of value.entries()) check(shape.of, item, `${path}/${index}`, faults);
      return;
    case 'map':
      if (!isObject(value)) return fault('must be an object');
      sizeFault({ min: shape.min }, Object.keys(value).length, 'members', fault);
      for (const [key, member] of Object.entries(value)) check(shape.of, member, at(path, key), faults);
      return;
    case 'object':
      if (!isObject(value)) return fault('must be an object');
      for (const field of shape.fields) checkField(field, value, path, faults);
      if (!shape.open) {
        const known = new Set(shape.fields.map(field => field.name));
        for (const key of Object.keys(value)) {
          if (!known.has(key) && faults.length < MAX_FAULTS)
            faults.push({ path: at(path, key), reason: 'is not a field' });
        }
      }
      return;
    case 'any_of': {
      const attempts = shape.of.map(branch => {
        const found: ShapeFault[] = [];
        check(branch, value, path, found);
        return found;
      });
      if (attempts.some(found => found.length === 0)) return;
      const deepest = attempts.find(found => found.some(inner => inner.path !== path)) ?? [];
      if (deepest.length > 0) faults.push(...deepest);
      else fault(attempts.map(found => found[0]?.reason).join(', or '));
    }
  }
}

function checkField(field: ShapeField, value: object, path: string, faults: ShapeFault[]): void {
  const member: unknown = Object.hasOwn(value, field.name) ? Reflect.get(value, field.name) : undefined;
  if (member !== undefined) check(field.shape, member, at(path, field.name), faults);
  else if (field.required && faults.length < MAX_FAULTS)
    faults.push({ path: at(path, field.name), reason: 'is missing' });
}

function sizeFault(
  bounds: { readonly min?: number | undefined; readonly max?: number | undefined },
  size: number,
  unit: string,
  fault: (reason: string) => undefined,
): undefined {
  if (bounds.min !== undefined && size < bounds.min) fault(`must have at least ${bounds.min} ${unit}`);
  else if (bounds.max !== undefined && size > bounds.max) fault(`must have at most ${bounds.max} ${unit}`);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function at(path: string, key: string): string {
  return `${path}/${pointerToken(key)}`;
}
