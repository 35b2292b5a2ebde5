import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type GuidedTools, openGuidedSessions, openGuidedTools } from '@signalbox/app/guided';
import { openHome, thisMachine } from '@signalbox/app/host';
import type { Json } from '@signalbox/model';
import { startServer } from '@signalbox/server';
import { startModelServer } from '@signalbox/testkit';
import { planText } from '../../../app/test/support/open-host.ts';
import { TOKEN } from '../http-asker.ts';

/** A real server on a real data directory: plans run in threads, their agents talk to a model that answers by a script. */
export interface Stage {
  readonly url: string;
  readonly tools: GuidedTools;
  /** The file of a plan whose agent asks before it writes a file, in a workspace of its own. */
  readonly agentPlan: string;
  /** The directory that its workspace is a copy of. */
  readonly directory: string;
  /** The file of a plan with two agents in that directory itself: `writes` changes a file, `looks` changes nothing. */
  readonly turnsPlan: string;
  /** The system prompts and questions of the model, in the order of the calls. */
  readonly heard: readonly { readonly system: string; readonly prompt: string }[];
  /** The file of a plan that goes round in circles. */
  readonly stormPlan: string;
  ask(method: string, place: string, body?: Json, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

const STORM = `
import { definePlan, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({
  name: 'storm',
  state: z.object({ n: z.number().default(0) }),
  render: ctx => <Task id="spin" label={String(ctx.state.get('n'))} run={() => new Promise(() => { setInterval(() => ctx.state.update('n', n => 1 - n), 50); })} />,
});`;

const TURNS = `
  <Agent id="writes" model="anthropic:claude-test" system="You write." prompt="Write it." maxTurns={6} permissions="skip" />
  <Agent id="looks" model="anthropic:claude-test" prompt="Only look." maxTurns={6} permissions="skip" />`;

export async function openStage(): Promise<Stage> {
  const folder = mkdtempSync(path.join(tmpdir(), 'contract-'));
  const dataDirectory = path.join(folder, 'data');
  const directory = path.join(folder, 'work');
  mkdirSync(directory);
  const machine = thisMachine();
  const heard: { readonly system: string; readonly prompt: string }[] = [];
  const model = await startModelServer(({ since, system, prompt }) => {
    heard.push({ system, prompt });
    if (prompt.includes('Only look.')) return { text: 'I looked.' };
    return since.some(part => part.kind === 'result')
      ? { text: 'It is written.' }
      : { text: 'I write.', calls: [{ tool: 'write_file', input: { path: 'a.txt', content: 'a' } }] };
  });
  const home = await openHome({
    dataDirectory,
    machine,
    env: { ANTHROPIC_API_KEY: 'sk-secret-key', ANTHROPIC_BASE_URL: model.url },
    resumeOnAnswer: true,
    planRoots: [folder],
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Error(home.error.message);
  const options = { dataDirectory, directories: [], machine };
  const tools = openGuidedTools(options);
  const server = await startServer({
    host: home.value.host,
    token: TOKEN,
    port: 0,
    timers: machine.timers,
    guided: tools,
    sessions: openGuidedSessions(options),
  });
  if (!server.ok) throw new Error(server.error.message);
  const { url } = server.value;
  const agent = `<Agent id="agent" model="anthropic:claude-test" prompt="Do it." maxTurns={6} permissions="gated"
    onFinished={said => ctx.state.set('said', said)} />`;
  const file = (name: string, text: string) => {
    const place = path.join(folder, name);
    writeFileSync(place, text);
    return place;
  };
  return {
    url,
    tools,
    agentPlan: file(
      'agent.tsx',
      planText(agent, 'z.object({ said: z.any() })').replace(
        "name: 'test',",
        "name: 'test', workspace: true, signals: { hello: { schema: z.object({ n: z.number() }), handle: () => {} } },",
      ),
    ),
    directory,
    turnsPlan: file('turns.tsx', planText(TURNS)),
    heard,
    stormPlan: file('storm.tsx', STORM),
    ask: (method, place, body, headers = {}) =>
      fetch(`${url}${place}`, {
        method,
        headers: {
          authorization: `Bearer ${TOKEN}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async close() {
      await server.value.close();
      await home.value.close();
      await model.close();
      rmSync(folder, { recursive: true });
    },
  };
}
