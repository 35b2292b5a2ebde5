import type { RunSpend, WireModelCall } from '@signalbox/model';
import { lasted, money, tokens } from '../story/words.ts';

/** A node, or a part of what it spent: its own calls and those of each of its subagents, where these are told apart. */
export interface SpendRow {
  readonly key: string;
  readonly node: string;
  readonly name: string;
  readonly isPart: boolean;
  readonly calls: number;
  readonly costMicroUsd: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Each node with its parts below it. A node whose agent tells no subagents apart has none: nothing is guessed. */
export function spendRows({ nodes, subagents }: Pick<RunSpend, 'nodes' | 'subagents'>): readonly SpendRow[] {
  return nodes.flatMap(({ node, models }): readonly SpendRow[] => {
    const sum = { calls: 0, costMicroUsd: 0, inputTokens: 0, outputTokens: 0 };
    for (const { calls, costMicroUsd, inputTokens, outputTokens } of models) {
      sum.calls += calls;
      sum.costMicroUsd += costMicroUsd;
      sum.inputTokens += inputTokens;
      sum.outputTokens += outputTokens;
    }
    const own = subagents.filter(part => part.node === node);
    const hasParts = own.some(({ subagent }) => subagent !== null);
    const parts = hasParts ? own : [];
    return [
      { key: node, node, name: node, isPart: false, ...sum },
      ...parts.map(({ subagent, calls, costMicroUsd, inputTokens, outputTokens }) => ({
        ...{ key: `${node} ${subagent?.id ?? ''}`, node, isPart: true },
        name: subagent === null ? 'its own calls' : `subagent ${shortOf(subagent.id)}`,
        ...{ calls, costMicroUsd, inputTokens, outputTokens },
      })),
    ];
  });
}

/** Ids are long, and differ at their ends. */
export function shortOf(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-8)}`;
}

/** What became of a call, in a few words. */
export function callWords({ outcome, spent, reservedTokens = 0, unknown, endedAfterMs }: WireModelCall): string {
  if (outcome === 'under way') return `under way, ${tokens(reservedTokens)} tokens reserved`;
  if (outcome === 'refused at a limit')
    return endedAfterMs === undefined ? outcome : `${outcome}, its node ended ${lasted(endedAfterMs)} later`;
  const words = outcome === 'answered' ? '' : `${outcome}, `;
  if (spent === undefined) return outcome;
  const told = unknown.length === 0 ? '' : ' (estimated in part)';
  return `${words}${money(spent.costMicroUsd)} · ${tokens(spent.inputTokens)} in, ${tokens(spent.outputTokens)} out${told}`;
}
