import { useEffect, useRef } from 'react';

/** Actions by key; a sequence of two keys has a space: `g r`. */
export type Keys = Readonly<Record<string, () => void>>;

const SEQUENCE_MS = 900;

/** Keys that work while this is on the page; not while typing, with a modifier, or behind a dialog. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const act = current.current[pressed(event)];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

/** The key that begins sequences. A key after it belongs to the sequence, and never acts by itself. */
const LEAD = 'g';

let last: { readonly event: KeyboardEvent; readonly name: string; readonly isLead: boolean } | undefined;

/** The name of a key, or of the sequence that it ends. The same for everything that hears the event. */
function pressed(event: KeyboardEvent): string {
  if (last?.event === event) return last.name;
  const isNext = last?.isLead === true && event.timeStamp - last.event.timeStamp < SEQUENCE_MS;
  const name = isNext ? `${LEAD} ${event.key}` : event.key;
  last = { event, name, isLead: name === LEAD };
  return name;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog') !== null) return true;
  const isField = target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'range';
  return isField || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
