import type { SandboxMissingError } from '@signalbox/state';
import { CONFIG_FILE } from '../settings/config-file.ts';

/** How commands can be run where there is no sandbox, for whoever decides that they may. */
export const UNCONFINED_HINT = `To run commands unconfined, each approved by a person, add {"commands": {"allowUnconfined": true}} to ${CONFIG_FILE} in the data directory.`;

export function withUnconfinedHint(error: SandboxMissingError): SandboxMissingError {
  return { ...error, suggestion: `${error.suggestion} ${UNCONFINED_HINT}` };
}
