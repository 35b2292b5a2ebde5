/** The scheme of the operator's resources. */
export const SCHEME = 'signalbox://';

export const LIST = `${SCHEME}executions`;
export const HEALTH = `${SCHEME}health`;

export function executionAddress(run: string): string {
  return `${LIST}/${run}`;
}

export function nodeAddress(run: string, node: string): string {
  return `${executionAddress(run)}/nodes/${encodeURIComponent(node)}`;
}

/** An address without its query. */
export function plainAddress(address: string): string {
  return address.split('?', 1)[0] ?? address;
}
