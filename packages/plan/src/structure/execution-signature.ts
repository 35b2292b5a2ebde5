import { hash } from 'node:crypto';
import type { Json } from '@signalbox/model';
import { isAgentKind } from '../nodes/node-kind.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { plainText } from '../state/plain-text.ts';

/** Grows when what an agent is sent of its history changes in meaning: results under another version are other results. */
export const HISTORY_POLICY_VERSION = 1;

/**
 * What makes the work of a node what it is, as 16 hex digits. A node that succeeded runs again when it changes. Labels,
 * handlers, retries and time limits are no part of it: they do not change what is asked.
 */
export function executionSignature(node: RunnableNode, environment = ''): string {
  return hash('sha256', plainText(partsOf(node, environment)), 'hex').slice(0, 16);
}

function partsOf(node: RunnableNode, environment: string): Json {
  if (isAgentKind(node.kind)) {
    const agent = node as Extract<RunnableNode, { readonly kind: 'agent' }>;
    const { model, plugin, prompt, system, tools, schema, maxTurns, history, cwd } = agent.data;
    return {
      kind: node.kind,
      model: model ?? null,
      plugin: plugin ?? null,
      prompt,
      system: system ?? null,
      tools: tools === undefined ? null : { allow: sorted(tools.allow), deny: sorted(tools.deny) },
      schema: schema ?? null,
      maxTurns,
      history: {
        version: HISTORY_POLICY_VERSION,
        maxMessages: history?.maxMessages ?? null,
        maxTokens: history?.maxTokens ?? null,
      },
      cwd: cwd ?? null,
      environment,
    };
  }
  switch (node.kind) {
    case 'task':
      return { kind: node.kind, input: node.data.input ?? null };
    case 'human': {
      const { prompt, options, schema, context } = node.data;
      return {
        kind: node.kind,
        prompt,
        options: (options as Json | undefined) ?? null,
        schema: schema ?? null,
        context: context ?? null,
      };
    }
    default: {
      const { plan, input } = node.data as { readonly plan: string; readonly input?: Json };
      return { kind: 'subplan', plan, input: input ?? null };
    }
  }
}

function sorted(names: readonly string[] | undefined): Json {
  return names === undefined ? null : [...names].sort();
}
