import type { ResolvedModel } from '@signalbox/adapters/builtin';
import { Bug, defined, type Json, type JsonObject, ok } from '@signalbox/model';
import type { AgentSession, Assignment } from '@signalbox/runs';
import type { AnyTool, ToolRunner } from '@signalbox/state';
import type { Machine } from '../machine.ts';
import type { EffectivePrompt } from './projections/turn-prompt.ts';

type Request = Parameters<ResolvedModel['model']['doStream']>[0];

/**
 * Rebuilds the first request of a conversation with the original code: the agent itself, on a model that only listens. Nothing is stored,
 * spent, asked or run. `begun` is the stored beginning, if available. Undefined if the agent calls no model, because its schema is invalid.
 */
export async function effectivePrompt(
  machine: Pick<Machine, 'clock' | 'ids' | 'timers'>,
  assignment: Assignment,
  tools: readonly AnyTool[],
  begun: Json | undefined,
): Promise<EffectivePrompt | undefined> {
  const { createBuiltinRunner } = await import('@signalbox/adapters/builtin');
  let heard: Request | undefined;
  const listen = async (request: Request): Promise<never> => {
    heard = request;
    throw new Error('it only listens');
  };
  const runner = createBuiltinRunner({
    modelOf: async () => ok({ name: { provider: 'none', model: 'none' }, model: listener(listen), secrets: [] }),
    toolsFor: async () => ok({ tools, runner: noTools, close: async () => {} }),
    ...machine,
  });
  await runner.run(assignment, recordedSession(begun));
  return heard === undefined ? undefined : promptOf(heard);
}

function promptOf({ prompt, tools = [], responseFormat }: Request): EffectivePrompt {
  const system = prompt.flatMap(({ role, content }) => (role === 'system' ? [content] : [])).join('\n\n');
  const user = prompt.flatMap(message => {
    if (message.role !== 'user') return [];
    return message.content.flatMap(part => (part.type === 'text' ? [part.text] : []));
  });
  const schema = responseFormat?.type === 'json' ? responseFormat.schema : undefined;
  return {
    system,
    user,
    tools: tools.flatMap(tool =>
      tool.type === 'function'
        ? [
            {
              name: tool.name,
              ...defined({ description: tool.description }),
              inputSchema: tool.inputSchema as Json,
            },
          ]
        : [],
    ),
    ...(schema !== undefined && { answer: schema as JsonObject }),
  };
}

function listener(listen: (request: Request) => Promise<never>): ResolvedModel['model'] {
  return {
    specificationVersion: 'v4',
    provider: 'none',
    modelId: 'none',
    supportedUrls: {},
    doGenerate: listen,
    doStream: listen,
  };
}

const noTools: ToolRunner = {
  execute() {
    throw new Bug('a prompt is made without running a tool');
  },
};

function recordedSession(begun: Json | undefined): AgentSession {
  return {
    signal: new AbortController().signal,
    transcript: async () => (begun === undefined ? [] : [begun]),
    keep: async messages => messages,
    stream: () => {},
    admit: async () => ({ kind: 'go', release: () => {} }),
    spend: async () => {},
    decide: async () => undefined,
    answered: async () => undefined,
  };
}
