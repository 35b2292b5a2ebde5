import { canonicalJson, type Json, truncateUtf8 } from '@signalbox/model';
import { type ContextLayers, contextValue, isList, isObject } from '../interpret/condition-value.ts';
import { promptBudgets } from './prompt-budgets.ts';

/**
 * A text with the values of the context put in for `{{path}}`. What is not a plain path stays as it is; what is put in is
 * not read again, so nothing in a value can ask for another one.
 */
export function fillTemplate(text: string, context: ContextLayers): string {
  const known = new Map<string, string>();
  let room: number = promptBudgets.contextValues;
  return text.replaceAll(PATH, (_, path: string) => {
    const value = known.get(path) ?? valueText(context, path);
    known.set(path, value);
    room -= value.length;
    return room < 0 ? `[left out: ${path}]` : value;
  });
}

const PATH = /\{\{\s*([A-Za-z_$][\w$-]*(?:\.[\w$-]+)*)\s*\}\}/g;

function valueText(context: ContextLayers, path: string): string {
  const value = valueAt(context, path);
  return value === null ? `[unset: ${path}]` : truncateUtf8(shown(value), promptBudgets.contextValue);
}

/** A name with dots of its own comes before a path. */
function valueAt(context: ContextLayers, path: string): Json {
  const whole = contextValue(context, path);
  if (whole !== null) return whole;
  const [first = '', ...rest] = path.split('.');
  return rest.reduce<Json>(memberOf, contextValue(context, first));
}

function memberOf(value: Json, name: string): Json {
  if (isList(value)) return /^(0|[1-9]\d*)$/.test(name) ? (value[Number(name)] ?? null) : null;
  return isObject(value) && Object.hasOwn(value, name) ? (value[name] ?? null) : null;
}

function shown(value: Json): string {
  return typeof value === 'object' ? canonicalJson(value) : String(value).toWellFormed();
}
