/** Where operators' programs find what there is. */
export const SCHEME = 'signalbox://';

export const LIST = `${SCHEME}executions`;
export const HEALTH = `${SCHEME}health`;

export function executionAddress(run: string): string {
  return `${LIST}/${run}`;
}

export function nodeAddress(run: string, node: string): string {
  return `${executionAddress(run)}/nodes/${encodeURIComponent(node)}`;
}

/** An address without what is asked of it. */
export function plainAddress(address: string): string {
  return address.split('?', 1)[0] ?? address;
}
