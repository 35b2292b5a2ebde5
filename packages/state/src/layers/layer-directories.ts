import * as fs from 'node:fs';
import * as z from 'zod';
import { isWithin } from '../filesystem/path-locks.ts';
import { HELD, heldIn } from './held-changes.ts';
import type { CallOfLayer, SweptCall } from './layer.ts';
import { kernelMountInside, mountsInside } from './mount-table.ts';

const CALL = 'call.json';
const callOfLayer = z.strictObject({ id: z.string(), tool: z.string(), evaluation: z.string() });

/** The directories of layers and copies, and whose they are: what a dead process left is known by that. */
export const layersLeft = {
  note(directory: string, call: CallOfLayer): void {
    fs.writeFileSync(`${directory}/${CALL}`, JSON.stringify(call), { mode: 0o600 });
  },
  /** It is neither held nor interrupted any more: the next start removes it silently. */
  forget(directory: string): void {
    for (const name of [HELD, CALL]) fs.rmSync(`${directory}/${name}`, { force: true });
  },
  /** Removes what dead processes left, except what is held or still needed. Returns the calls that were cut off. */
  sweep(home: string, needed: ReadonlySet<string>, remove: (directory: string) => void): readonly SweptCall[] {
    const held = new Set(heldIn(home).map(({ layer }) => layer));
    const left = fs.existsSync(home) ? fs.readdirSync(home) : [];
    return left.flatMap(name => {
      if (held.has(name) || needed.has(name)) return [];
      const directory = `${home}/${name}`;
      const call = callIn(directory);
      const isUntouched = call !== undefined && isEmpty(`${directory}/upper`);
      layersLeft.forget(directory);
      remove(directory);
      return call === undefined ? [] : [{ ...call, isUntouched }];
    });
  },
};

/** Why a directory cannot be copied, as far as we can tell without trying. */
export function reasonAgainstCopy(root: string, home: string): string | undefined {
  if (isWithin(home, root)) return DATA_INSIDE;
  const mount = kernelMountInside(root);
  return mount === undefined ? undefined : `${mount}, which is mounted inside it, has no ordinary files`;
}

const DATA_INSIDE = 'the data directory is inside it';

/** Why a directory cannot have a layer, as far as we can tell without making one. */
export function reasonAgainst(root: string, home: string): string | undefined {
  if (isWithin(home, root)) return DATA_INSIDE;
  const [mount] = mountsInside(root);
  return mount === undefined ? undefined : `${mount} is mounted inside it`;
}

function callIn(directory: string): CallOfLayer | undefined {
  try {
    return callOfLayer.parse(JSON.parse(fs.readFileSync(`${directory}/${CALL}`, 'utf8')));
  } catch {
    return undefined;
  }
}

function isEmpty(directory: string): boolean {
  try {
    return fs.readdirSync(directory).length === 0;
  } catch {
    return false;
  }
}
