// Opens a confined program that writes into its home for ever, and prints what it says.
// node interactive-child.ts ROOT HOME
import { AGENT_LIMITS, detectSandbox } from '../src/index.ts';
import { must } from './builders.ts';

const [root = '', home = ''] = process.argv.slice(2);
const program = must(await detectSandbox()).open({
  ...{
    command: ['sh', '-c', 'echo x > "$HOME/alive"; echo ready; while :; do echo x >> "$HOME/alive"; done'],
    root,
    refused: [],
    readable: [],
    home,
  },
  variables: { PATH: '/usr/bin:/bin', HOME: home },
  limits: AGENT_LIMITS,
});
program.stdout.pipe(process.stdout);
await program.ended;
