import { useEffect, useSyncExternalStore } from 'react';
import { createStore } from '../story/store.ts';
import { usePageActions } from './page-actions.ts';
import { words } from './words.ts';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly undo: (() => void) | undefined;
}

const store = createStore<Toast | undefined>(undefined, tell => tell());
let last = 0;

/** Says what was done, and offers to undo it if it can be. A later one takes its place. */
export function toast(text: string, undo?: () => void): void {
  last += 1;
  const id = last;
  store.change(() => ({ id, text, undo }));
}

const SHOWN_MS = 10_000;

/** The action that was done last, for a while. It stays while the pointer or the focus is on it. */
export function Toasts() {
  const shown = useSyncExternalStore(store.subscribe, store.read);
  return (
    <div role="status" className="toasts">
      {shown !== undefined && <OneToast key={shown.id} shown={shown} />}
    </div>
  );
}

function OneToast({ shown }: { readonly shown: Toast }) {
  const close = () => store.change(now => (now?.id === shown.id ? undefined : now));
  const canUndo = shown.undo !== undefined;
  const undo = () => {
    close();
    shown.undo?.();
  };
  usePageActions(canUndo ? [{ name: `${words.undo}: ${shown.text}`, key: 'u', act: undo }] : []);
  useEffect(() => {
    const look = () => {
      const isHeld = document.querySelector('.toast:is(:hover, :focus-within)') !== null;
      if (isHeld) timer = setTimeout(look, SHOWN_MS);
      else store.change(now => (now?.id === shown.id ? undefined : now));
    };
    let timer = setTimeout(look, SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return (
    <p className="toast">
      {shown.text}
      {canUndo && (
        <button type="button" className="button button-small" onClick={undo}>
          {words.undo} <kbd>u</kbd>
        </button>
      )}
      <button type="button" className="button button-small button-quiet" aria-label={words.dismiss} onClick={close}>
        ×
      </button>
    </p>
  );
}
