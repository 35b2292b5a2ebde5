import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type EchoSetup, echoAgentProgram } from '@signalbox/testkit';

/** The name of the demo's agent in plans. */
const SHOW_AGENT = 'echo';

const README = { before: 'shop\nprices, orders\n', after: '# Shop\n\nPrices and orders of the shop.\n' };
/** The file that it edits, before. */
export const showReadme: Readonly<Record<string, string>> = { 'shop/README.md': README.before };

/** What the agent does, whatever it is asked: it thinks, plans, reads, asks about an edit with options of its own, and reports. */
const setup: EchoSetup = {
  prompts: [
    [
      { do: 'think', text: 'The README has no heading and no sentence. I look at it first, then propose one edit.' },
      { do: 'plan', entries: ['Read the README', 'Give it a heading and a sentence', 'Say what changed'] },
      {
        ...{
          do: 'tool',
          id: 'read',
          kind: 'read',
          title: 'Read README.md',
          name: 'Read',
          input: { path: 'README.md' },
        },
        ...{ locations: [{ path: 'README.md' }], statuses: ['in_progress', 'completed'] },
      },
      { do: 'say', text: 'The README is two lines of notes. I would make it a page.\n' },
      {
        ...{ do: 'ask', id: 'edit', kind: 'edit', title: 'Edit README.md', name: 'Edit', input: { path: 'README.md' } },
        locations: [{ path: 'README.md' }],
        diff: { path: 'README.md', oldText: README.before, newText: README.after },
        options: [
          { optionId: 'once', name: 'Make this edit', kind: 'allow_once' },
          { optionId: 'keep', name: 'Leave the README as it is', kind: 'reject_once' },
        ],
        allowed: [
          { do: 'write', file: 'README.md', text: README.after },
          { do: 'say', text: 'The README has a heading and a sentence now.' },
        ],
        denied: [{ do: 'say', text: 'I left the README as it is.' }],
      },
    ],
  ],
};

/** Configures a data directory of the demo with an agent that speaks ACP: a real process without a model. */
export function writeShowAgent(dataDirectory: string): void {
  mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
  const command = [process.execPath, echoAgentProgram];
  const agents = { [SHOW_AGENT]: { command, title: 'Echo', settings: { ECHO_AGENT: JSON.stringify(setup) } } };
  writeFileSync(path.join(dataDirectory, 'config.json'), `${JSON.stringify({ agents }, null, 2)}\n`);
}

/** A plan whose agent is the demo's own. */
export const SHOW_AGENT_PLAN = `import { Agent, definePlan } from 'signalbox';
import * as z from 'zod';

export default definePlan({
  name: 'tidy-readme',
  state: z.object({ said: z.string().default('') }),
  render: ctx => (
    <Agent
      id="tidy"
      plugin="${SHOW_AGENT}"
      cwd="shop"
      permissions="gated"
      prompt="Make the README of this directory a page that a newcomer understands."
      onFinished={said => ctx.state.set('said', said)}
    />
  ),
});
`;
