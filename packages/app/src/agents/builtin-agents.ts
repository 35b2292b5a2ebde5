import { nodeHasher } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok } from '@signalbox/model';
import type { AgentRunner, Blobs, Commit, RunReader } from '@signalbox/runs';
import { artifactTool } from '../artifacts/artifact-tool.ts';
import type { RunBudget } from '../host/run-budget.ts';
import type { Machine } from '../machine.ts';
import type { AgentTools } from './agent-tools.ts';
import { ownTools } from './own-tools.ts';
import { unknownTool } from './unknown-tool.ts';

export interface BuiltinAgentsOptions {
  readonly machine: Machine;
  readonly tools: AgentTools;
  readonly store: RunReader & Commit & Blobs;
  /** Where keys and addresses of providers are. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly budget: Pick<RunBudget, 'limited'>;
}

/** The agent that comes along. Its packages are loaded when the first agent works: most commands never need them. */
export function builtinAgents({ machine, tools, store, env, budget }: BuiltinAgentsOptions): AgentRunner {
  let loading: Promise<AgentRunner> | undefined;
  const costLimited = new Set<string>();
  const artifacts = { commit: store, reader: store, blobs: store, clock: machine.clock, hasher: nodeHasher };

  async function load(): Promise<AgentRunner> {
    const { createBuiltinRunner, createModelSource, readModelEnvironment } = await import(
      '@signalbox/adapters/builtin'
    );
    return createBuiltinRunner({
      modelOf: createModelSource(readModelEnvironment(env)),
      async toolsFor(assignment, session) {
        const unknown = unknownTool(assignment.tools ?? {});
        if (unknown !== undefined) return err(unknown);
        const command = await tools.commands();
        const own = ownTools(assignment.tools?.own ?? [], session.own, command);
        const mine = [artifactTool(artifacts, assignment), ...own];
        const servers = assignment.mcp === undefined ? undefined : await tools.servers(assignment.mcp, assignment, env);
        if (servers?.ok === false) return servers;
        const theirs = servers?.value.tools ?? [];
        const names = [...mine, ...(await tools.atHand())].map(({ name }) => name);
        const twice = theirs.find(({ name }) => names.includes(name));
        const bench =
          twice === undefined ? await tools.open(assignment, [...mine, ...theirs]) : err(sameName(twice.name));
        const close = async () => void (await servers?.value.close());
        if (bench.ok) return ok({ ...bench.value, always: theirs.map(({ name }) => name), close });
        await close();
        return err({ class: 'terminal', code: bench.error.code, message: bench.error.message });
      },
      costLimited: ({ run }) => costLimited.has(run),
      clock: machine.clock,
      ids: machine.ids,
      timers: machine.timers,
    });
  }

  return {
    async run(assignment, session) {
      if ((await budget.limited(assignment.run)).cost) costLimited.add(assignment.run);
      loading ??= load();
      return (await loading).run(assignment, session);
    },
  };
}

function sameName(name: string): ErrorEnvelope {
  return failure('tool/refused', {
    message: `An MCP server has a tool "${name}", as the agent already has.`,
    suggestion: 'Give the server a prefix.',
  });
}
