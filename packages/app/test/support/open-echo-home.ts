import * as fs from 'node:fs';
import path from 'node:path';
import { type EchoStep, echoAgentProgram, echoPrompt } from '@signalbox/testkit';
import { temporaryFolder } from '../temporary-folder.ts';
import { planText } from './open-host.ts';
import { openTestHome } from './open-scripted-home.ts';

/** A home with the echo agent as a command of its configuration, and a folder that it works in. */
export async function openEchoHome(
  options: {
    readonly folder?: string;
    readonly env?: Record<string, string>;
    readonly config?: object;
    readonly resumeOnAnswer?: boolean;
  } = {},
) {
  const { folder = temporaryFolder(), resumeOnAnswer = true } = options;
  const data = path.join(folder, 'data');
  const work = path.join(folder, 'work');
  fs.mkdirSync(data, { recursive: true, mode: 0o700 });
  fs.mkdirSync(work, { recursive: true });
  const command = [process.execPath, echoAgentProgram];
  const variables = ['ECHO_KEY', 'ECHO_AGENT'];
  const agents = { echo: { command, title: 'Echo', variables, settings: { ECHO_SET: '{root}' } } };
  fs.writeFileSync(path.join(data, 'config.json'), JSON.stringify({ agents, ...options.config }));
  const env = { ECHO_KEY: 'seen-by-the-agent', OTHER_KEY: 'not-for-agents', ...options.env };
  return { folder, data, work, ...(await openTestHome(folder, { env, resumeOnAnswer })) };
}

export const echoPlan = (steps: readonly EchoStep[], props = '') =>
  planText(
    `<Agent id="agent" plugin="echo" cwd="work" prompt={${JSON.stringify(echoPrompt(steps))}} ${props}
       onFinished={said => ctx.state.set('said', said)} onError={({ error }) => ctx.state.set('failed', error.message)} />`,
    'z.object({ said: z.any(), failed: z.any() })',
  );
