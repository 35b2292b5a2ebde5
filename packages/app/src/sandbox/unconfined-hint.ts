import type { SandboxMissingError } from '@signalbox/state';
import { CONFIG_FILE } from '../settings/config-file.ts';

/** How to run commands without a sandbox, for the person who decides that. */
export const UNCONFINED_HINT = `To run commands unconfined, each approved by a person, add {"commands": {"allowUnconfined": true}} to ${CONFIG_FILE} in the data directory.`;

export function withUnconfinedHint(error: SandboxMissingError): SandboxMissingError {
  return { ...error, suggestion: `${error.suggestion} ${UNCONFINED_HINT}` };
}
