import { useEffect, useRef } from 'react';

/** What a key does; two keys one after the other are written with a space: `g r`. */
export type Keys = Readonly<Record<string, () => void>>;

const SEQUENCE_MS = 900;

/** Single keys, for as long as this is on the page. Never while somebody types, never with a modifier, never behind a dialog. */
export function useKeys(keys: Keys): void {
  const current = useRef(keys);
  useEffect(() => {
    current.current = keys;
  });
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const before = first !== undefined && event.timeStamp - first.at < SEQUENCE_MS ? `${first.key} ` : '';
      const act = current.current[`${before}${event.key}`] ?? current.current[event.key];
      first = { key: event.key, at: event.timeStamp };
      if (act === undefined) return;
      first = undefined;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog') !== null) return true;
  const isField = target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'range';
  return isField || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}
