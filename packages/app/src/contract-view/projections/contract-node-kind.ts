import type { Provider } from '@signalbox/model';

/** What the contract calls the vendors of agent nodes, by the kind of the node. */
export const vendorOfKind: Readonly<Record<string, Provider>> = {
  claude: 'claude',
  codex: 'codex',
  gemini: 'gemini',
  openai: 'custom',
  agent: 'custom',
};

/** The contract shows every agent, human, task and sub-plan node of a plan (R20); others only arrange them. */
export function isContractNodeKind(kind: string): boolean {
  return Object.hasOwn(vendorOfKind, kind) || kind === 'task' || kind === 'human' || kind === 'subplan';
}
