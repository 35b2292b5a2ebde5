import { lazy } from 'react';

const AGAIN_MS = 1_000;
const ATTEMPTS = 60;

/** A part that is loaded when it is first shown. It is asked for again while the server restarts, since React keeps a failure for good. */
export const lazyPart: typeof lazy = load => lazy(() => whenServed(load));

/** Loads a file of the console; asks again while no server answers. */
export async function whenServed<Part>(load: () => Promise<Part>): Promise<Part> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await load();
    } catch (cause) {
      if (attempt === ATTEMPTS) throw cause;
      await new Promise(resolve => setTimeout(resolve, AGAIN_MS));
    }
  }
}
