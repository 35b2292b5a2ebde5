import { utf8Length } from '@signalbox/model';
import { limits } from './limits.ts';
import { nearest, type ProblemList } from './problem.ts';

/** Values of `{{wr.bindings.slot}}`, by slot. */
export type Slots = ReadonlyMap<string, string>;

/** A workflow's slots: the caller's binding, else the default. A slot with neither stays unbound. */
export function slotsOf(
  points: readonly { readonly slotId: string; readonly default?: string | undefined }[] | undefined,
  bindings: ReadonlyMap<string, string>,
): Slots {
  const slots = new Map<string, string>();
  for (const point of points ?? []) {
    const bound = bindings.get(point.slotId) ?? point.default;
    if (bound !== undefined && bound.length <= limits.bindingLength) slots.set(point.slotId, bound);
  }
  return slots;
}

const BINDING = /\{\{\s*wr\.bindings\.([A-Za-z0-9_-]+)\s*\}\}/g;

/** A text with its bindings inserted. A remaining `{{wr.` is a problem. */
export function finishedText(text: string, slots: Slots, at: string, problems: ProblemList): string {
  if (!text.includes('{{')) return text;
  const finished = text.replaceAll(BINDING, (whole, slot: string) => {
    const bound = slots.get(slot);
    if (bound !== undefined) return bound;
    problems.add('binding_unknown', at, `The slot "${slot}" is bound to nothing and has no default.`, () => {
      const meant = nearest(slot, slots.keys());
      return meant === undefined ? `Declare "${slot}" in extensionPoints with a default.` : `Did you mean "${meant}"?`;
    });
    return whole;
  });
  if (utf8Length(finished) > limits.textBytes) {
    const message = `With its bindings the text takes more than ${limits.textBytes} bytes.`;
    problems.add('too_large', at, message, 'Shorten it.');
    return text;
  }
  if (/\{\{\s*wr\./.test(finished.replaceAll(BINDING, ''))) {
    const message = 'A {{wr.…}} is left that means nothing to the compiler.';
    problems.add(
      'binding_unresolved',
      at,
      message,
      'Use {{wr.bindings.<slot>}} of a declared extension point, or remove it.',
    );
  }
  return finished;
}
