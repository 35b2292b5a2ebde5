import type { Screen } from '../src/live/screen.ts';

/** A screen whose time, size, other writers and end are the test's. */
export function memoryScreen() {
  const written: string[] = [];
  const state = { width: 40, now: 0, tick: () => {}, others: (_text: string) => {}, end: () => {} };
  const nothing = () => {};
  const screen: Screen = {
    size: () => ({ width: state.width, height: 10 }),
    write: text => written.push(text),
    now: () => state.now,
    every(_ms, draw) {
      state.tick = draw;
      return () => {
        state.tick = nothing;
      };
    },
    beforeOthersWrite(told) {
      state.others = told;
      return () => {
        state.others = nothing;
      };
    },
    beforeEnd(restore) {
      state.end = restore;
      return () => {
        state.end = nothing;
      };
    },
  };
  return { screen, state, taken: () => written.splice(0).join('') };
}
