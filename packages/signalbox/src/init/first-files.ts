import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** A file that `init` writes, by its path relative to the folder. */
export interface FirstFile {
  readonly path: string;
  readonly text: string;
}

export interface FirstFilesOptions {
  readonly withManifest: boolean;
  /** The agent of the plan: the name of an installed one, or `builtin`. Without one the plan needs no agent. */
  readonly agent?: string | undefined;
}

/** The files of a new plan folder. It gets a `package.json` only if editors could not find the types otherwise. */
export function firstFiles({ withManifest, agent }: FirstFilesOptions): readonly FirstFile[] {
  return [
    { path: 'plan.tsx', text: agent === undefined ? PLAN : agentPlan(agent) },
    { path: 'tsconfig.json', text: TSCONFIG },
    ...(withManifest ? [{ path: 'package.json', text: PACKAGE }] : []),
  ];
}

/** For clients that start MCP servers themselves. */
export function mcpSnippet([command = '', ...args]: readonly string[]): string {
  return JSON.stringify({ mcpServers: { signalbox: { command, args } } }, null, 2);
}

const PLAN = `// A plan describes what should be happening at every moment. It is rendered again whenever a value it reads changes.
//   signalbox run plan.tsx
//   signalbox run plan.tsx --input '{"places": ["Oslo"]}'
import { definePlan, Each, If, Parallel, Phase, Task } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'first',
  input: z.object({ places: z.array(z.string()).default(['Lisbon', 'Nairobi', 'Osaka']) }),
  // Durable state. Every change is committed with its reason: see "signalbox transitions".
  state: z.object({
    lengths: z.record(z.string(), z.number()).default({}),
    longest: z.string().optional(),
  }),
  render: ctx => (
    <>
      {/* Phases run one after the other; the children of Parallel start together. */}
      <Phase name="measure">
        <Parallel>
          <Each items={ctx.input.places}>
            {place => (
              <Task
                key={place}
                id={\`measure-\${place}\`}
                run={() => place.length}
                onFinished={length => ctx.state.update('lengths', all => ({ ...all, [place]: length }))}
              />
            )}
          </Each>
        </Parallel>
      </Phase>
      <Phase name="compare">
        <Task
          id="compare"
          run={() => Object.entries(ctx.state.get('lengths')).sort(([, a], [, b]) => b - a)[0]?.[0] ?? ''}
          onFinished={place => ctx.state.set('longest', place)}
        />
      </Phase>
      {/* A branch that is not taken stays in the tree, as skipped. */}
      <If condition={ctx.state.get('longest') === 'Nairobi'}>
        <Task id="wave" run={() => 'Jambo!'} />
      </If>
    </>
  ),
});
`;

/** A plan with one agent. The built-in agent needs a model, and applies its changes at once. */
function agentPlan(agent: string): string {
  const isBuiltin = agent === 'builtin';
  const who = isBuiltin
    ? `// The built-in agent works on any model: provider:model. It needs the provider's key, such as ANTHROPIC_API_KEY.`
    : `// The agent works on a layer of this folder: nothing reaches the folder before you have seen it. "signalbox agents ls" lists others.`;
  const props = isBuiltin
    ? `plugin="builtin"\n      model={ctx.input.model}`
    : `plugin=${JSON.stringify(agent)}\n      apply="ask"`;
  const input = isBuiltin ? `\n    model: z.string().default('anthropic:claude-sonnet-5-5'),` : '';
  return `// A plan describes what should be happening at every moment. It is rendered again whenever a value it reads changes.
//   signalbox run plan.tsx
//   signalbox run plan.tsx --input '{"task": "Add a README."}'
${who}
import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'first',
  input: z.object({
    task: z.string().default('Write a haiku about signals into haiku.txt.'),${input}
  }),
  // Durable state. Every change is committed with its reason: see "signalbox transitions".
  state: z.object({ report: z.string().optional() }),
  render: ctx => (
    <Agent
      id="work"
      ${props}
      prompt={ctx.input.task}
      onFinished={report => ctx.state.set('report', report)}
    />
  ),
});
`;
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "ES2024",
    "lib": ["ES2024", "DOM"],
    "module": "nodenext",
    "moduleResolution": "nodenext",
    "jsx": "react-jsx",
    "jsxImportSource": "signalbox",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["**/*.ts", "**/*.tsx"]
}
`;

/** The folder of the package while it runs from a checkout. */
export const CHECKOUT = import.meta.url.endsWith('.ts')
  ? fileURLToPath(new URL('../..', import.meta.url)).replace(/[\\/]$/, '')
  : undefined;

/** The type checker that the plan API is checked with. */
const TYPESCRIPT = '7.0.2';

const PACKAGE = `${JSON.stringify(
  {
    private: true,
    type: 'module',
    scripts: { check: 'tsc --noEmit', dev: 'signalbox dev plan.tsx' },
    devDependencies: {
      // A checkout is not on the registry: it is linked.
      signalbox: CHECKOUT === undefined ? manifest.version : `file:${CHECKOUT}`,
      typescript: TYPESCRIPT,
      zod: manifest.dependencies.zod,
    },
  },
  null,
  2,
)}
`;
