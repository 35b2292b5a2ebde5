import { useEffect, useRef, useSyncExternalStore } from 'react';
import { createStore } from '../story/store.ts';
import { useKeys } from './use-keys.ts';

/** An action of what is on the page: it is in the palette, and works by its key if it has one. */
export interface PageAction {
  readonly name: string;
  readonly key?: string;
  /** Whether it only goes to a part of the page. */
  readonly isPlace?: true;
  act(): void;
}

const store = createStore<ReadonlyMap<symbol, readonly PageAction[]>>(new Map(), tell => tell());

/** Offers actions while the component is on the page. */
export function usePageActions(actions: readonly PageAction[]): void {
  const latest = useRef(actions);
  useEffect(() => {
    latest.current = actions;
  });
  const shape = JSON.stringify(actions.map(({ name, key }) => [name, key]));
  useEffect(() => {
    const id = Symbol(shape);
    // What an action does may change while its name does not.
    const offered = latest.current.map((action, at) => ({ ...action, act: () => latest.current[at]?.act() }));
    store.change(before => new Map(before).set(id, offered));
    return () =>
      store.change(before => {
        const after = new Map(before);
        after.delete(id);
        return after;
      });
  }, [shape]);
  useKeys(Object.fromEntries(actions.flatMap(({ key, act }) => (key === undefined ? [] : [[key, act]]))));
}

/** The actions of everything on the page. */
export function usePageActionList(): readonly PageAction[] {
  return [...useSyncExternalStore(store.subscribe, store.read).values()].flat();
}

/** Marks a part of the page that offers the actions of its buttons by itself, under names that say more. */
export const offered = { 'data-offered': '' } as const;

const BUTTONS = 'main .button:not(:disabled, [aria-haspopup])';
const MOST = 60;

/** What else can be pressed on the page, by name: so that every action of every page is in the palette. */
export function buttonActions(): readonly PageAction[] {
  const named = new Map<string, PageAction>();
  for (const button of document.querySelectorAll<HTMLElement>(BUTTONS)) {
    if (named.size === MOST) break;
    if (button.closest('[data-offered]') !== null || !button.checkVisibility()) continue;
    const words = (button.getAttribute('aria-label') ?? button.innerText).replace(/\s+/g, ' ').trim();
    const part = button.closest('li, [aria-label]:not(.button)');
    const of = part?.getAttribute('aria-label') ?? part?.querySelector('strong, h2, h3')?.textContent;
    const name = named.has(words) && of ? `${words}: ${of}` : words;
    if (name === '' || named.has(name)) continue;
    const act = () => {
      button.focus();
      button.click();
    };
    named.set(name, { name, act });
  }
  return [...named.values()];
}
