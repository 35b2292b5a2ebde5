import { seededRng } from '@signalbox/testkit';
import { type GuidedTools, type GuidedToolsOptions, openGuidedTools } from '../../../src/guided/index.ts';
import { thisMachine } from '../../../src/machine.ts';

export function openTools(directory: string, options: Partial<GuidedToolsOptions> = {}): GuidedTools {
  return openGuidedTools({ dataDirectory: directory, directories: [], machine: machineOf(1), ...options });
}

/** Ids of this machine, and keys by a seed. */
export function machineOf(seed: number): GuidedToolsOptions['machine'] {
  return { ids: thisMachine().ids, rng: seededRng(seed) };
}
