import { useSyncExternalStore } from 'react';
import { createStore } from '../story/store.ts';
import { readSettings, type Settings } from './read-settings.ts';

const KEY = 'signalbox.settings';
const store = createStore<Settings>(readSettings(localStorage.getItem(KEY)), tell => tell());
store.subscribe(apply);
apply();

export function useSettings(): Settings {
  return useSyncExternalStore(store.subscribe, store.read);
}

export function changeSettings(change: Partial<Settings>): void {
  store.change(before => ({ ...before, ...change }));
  localStorage.setItem(KEY, JSON.stringify(store.read()));
}

function apply(): void {
  const { theme, time } = store.read();
  Object.assign(document.documentElement.dataset, { theme, time });
}
