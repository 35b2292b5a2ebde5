import { canonicalJson, type Json, truncateUtf8 } from '@signalbox/model';
import { type ContextLayers, contextValue, isList, isObject } from '../interpret/condition-value.ts';
import { promptBudgets } from './prompt-budgets.ts';

/**
 * Replaces `{{path}}` in a text by context values. Anything that is not a plain path is left unchanged; values are not
 * expanded again, so a value cannot refer to another one.
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

/** A key that contains dots takes precedence over a path. */
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
