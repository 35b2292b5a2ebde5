import { seededRng } from '@signalbox/testkit';
import { type GuidedTools, type GuidedToolsOptions, openGuidedTools } from '../../src/guided/index.ts';
import { thisMachine } from '../../src/machine.ts';

/** Stops for a person where a step cannot be passed without one; confirmations are not asked. */
const preferences = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'conservative' } as const;

export function openTools(directory: string, options: Partial<GuidedToolsOptions> = {}): GuidedTools {
  return openGuidedTools({ dataDirectory: directory, directories: [], machine: machineOf(1), preferences, ...options });
}

/** Ids of this machine, and keys by a seed. */
export function machineOf(seed: number): GuidedToolsOptions['machine'] {
  return { ids: thisMachine().ids, rng: seededRng(seed) };
}
