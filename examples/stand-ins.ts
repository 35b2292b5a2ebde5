// Makes a data directory whose agents are stand-ins: they speak the same protocol as the vendors' agents, and do what a file says.
//   node examples/stand-ins.ts examples/10-three-vendors/agents.json DIRECTORY
// With the vendors' agents installed ("signalbox agents add claude"), leave this out: the examples run unchanged.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const [script = '', directory = ''] = process.argv.slice(2);
const program = fileURLToPath(new URL('../packages/testkit/src/echo-agent/echo-agent.ts', import.meta.url));
const agents = JSON.parse(readFileSync(script, 'utf8')) as Record<string, { title: string; prompts: unknown }>;
const rows = Object.entries(agents).map(([name, { title, prompts }]) => {
  const settings = { ECHO_AGENT: JSON.stringify({ prompts }) };
  return [name, { command: [process.execPath, program], title, settings }] as const;
});
mkdirSync(directory, { recursive: true, mode: 0o700 });
writeFileSync(path.join(directory, 'config.json'), JSON.stringify({ agents: Object.fromEntries(rows) }, null, 2));
console.log(`${directory} has ${rows.map(([name]) => name).join(', ')} as stand-ins.`);
