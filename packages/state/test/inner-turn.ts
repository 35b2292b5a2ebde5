import * as fs from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import {
  AGENT_LIMITS,
  type AnyTool,
  defineTool,
  type InnerCalls,
  type InnerEnd,
  OtherLayerNeeded,
  succeed,
  type ToolOutcome,
} from '../src/index.ts';
import { createTestRunner, must } from './builders.ts';
import { type LayeredPlace, sandbox } from './layered.ts';

/** A program on a layer that does what it is told, script by script. */
export interface TestAgent {
  readonly inner: InnerCalls;
  /** Runs a script outside of every call. */
  run(script: string): Promise<void>;
  /** Runs a script as one call of its own. */
  call(id: string, script: string): Promise<InnerEnd>;
}

interface TurnOptions {
  /** Its changes are held. */
  readonly hold?: boolean;
  readonly id?: string;
}

/** The tool whose call is one turn of a program that stays. */
export function turnTool(place: LayeredPlace, work: (agent: TestAgent) => Promise<void>, hold = false): AnyTool {
  return defineTool({
    ...{
      name: 'agent_turn',
      description: 'a turn',
      input: z.strictObject({}),
      output: z.strictObject({}),
      risk: 'low',
    },
    effects: { kind: 'files', onLayer: true },
    async handler(_, { root, refused, layer, inner }) {
      if (!sandbox.ok || root === null || inner === undefined || layer === undefined) throw new Error('no layer');
      const home = `${place.data}/home`;
      fs.mkdirSync(home, { recursive: true });
      const program = sandbox.value.open({
        ...{ command: ['sh', '-c', LOOP], root, refused, layer, home, readable: [], limits: AGENT_LIMITS },
        variables: { PATH: '/usr/local/bin:/usr/bin:/bin' },
      });
      const answers = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
      const run = async (script: string) => {
        program.stdin.write(`${script.replaceAll('\n', '; ')}\n`);
        const { value } = await answers.next();
        if (value === undefined && (await program.ended).kind === 'other layer') throw new OtherLayerNeeded();
        if (value !== 'ok') throw new Error(`${script}: ${value}`);
      };
      try {
        await run(':');
        await work({
          inner,
          run,
          async call(id, script) {
            await inner.begin(id);
            await run(script);
            return inner.end(id, { id, tool: 'edit', outcome: 'succeeded', summary: script });
          },
        });
      } finally {
        program.stop();
        await program.ended;
      }
      return { ...succeed({}), ...(hold && { hold: true as const }) };
    },
  });
}

const LOOP = 'while read -r line; do if eval "$line" >&2; then echo ok; else echo failed; fi; done';

/** A call whose program makes calls by itself. */
export async function takeTurn(
  place: LayeredPlace,
  work: (agent: TestAgent) => Promise<void>,
  { hold = false, id = 'turn' }: TurnOptions = {},
): Promise<ToolOutcome> {
  const tool = turnTool(place, work, hold);
  const { state, locks, undoLog } = place;
  const runner = createTestRunner(state, { tools: [tool], locks, undoLog });
  return must(await runner.execute({ id, name: tool.name, input: {} }));
}
