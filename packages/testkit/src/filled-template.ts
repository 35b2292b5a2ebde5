import type { Json } from '@signalbox/model';

/** A template with a value for every placeholder in angle brackets: one of its choices, else a text. */
export function filledTemplate(
  template: Json,
  pick: (choices: readonly string[]) => string = ([first = '']) => first,
): Json {
  if (Array.isArray(template)) return template.map(part => filledTemplate(part, pick));
  if (typeof template === 'object' && template !== null) {
    const parts = Object.entries(template) as readonly (readonly [string, Json])[];
    return Object.fromEntries(parts.map(([key, part]) => [key, filledTemplate(part, pick)]));
  }
  const choices = typeof template === 'string' ? /^<(.*)>$/s.exec(template)?.[1]?.split(' | ') : undefined;
  if (choices === undefined) return template;
  return choices.length === 1 ? 'Written down at some length, as it was found.' : pick(choices);
}
