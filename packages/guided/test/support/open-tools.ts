import { randomBytes } from 'node:crypto';
import { createIdSource } from '@signalbox/model';
import { seededRng } from '@signalbox/testkit';
import { type GuidedTools, type GuidedToolsOptions, openGuidedTools } from '../../src/index.ts';
import { ports } from './ports.ts';

/** Stops for a person where a step cannot be passed without one; confirmations are not asked. */
const preferences = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'conservative' } as const;

export function openTools(directory: string, options: Partial<GuidedToolsOptions> = {}): GuidedTools {
  const given = { dataDirectory: directory, ports, directories: [], machine: machineOf(1), preferences };
  return openGuidedTools({ ...given, ...options });
}

const ids = createIdSource({ now: () => Date.now() }, { bytes: length => randomBytes(length) });

/** Ids of this machine, and keys by a seed. */
export function machineOf(seed: number): GuidedToolsOptions['machine'] {
  return { ids, rng: seededRng(seed) };
}
