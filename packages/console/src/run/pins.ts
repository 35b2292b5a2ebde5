import { useSyncExternalStore } from 'react';
import { createStore } from '../story/store.ts';

const KEY = 'signalbox.pins';
const store = createStore<readonly string[]>(read(), tell => tell());

/** Watched keys of state, in every run that has them; stored in this browser. */
export function usePins(): readonly string[] {
  return useSyncExternalStore(store.subscribe, store.read);
}

export function togglePin(key: string): void {
  store.change(pins => (pins.includes(key) ? pins.filter(pin => pin !== key) : [...pins, key]));
  localStorage.setItem(KEY, JSON.stringify(store.read()));
}

function read(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(pin => typeof pin === 'string') : [];
  } catch {
    return [];
  }
}
