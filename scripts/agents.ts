import { parseArgs } from 'node:util';
import { AGENT_ROWS, type AgentRow } from '@signalbox/adapters/acp';
import { agentsCache, fillCache } from './agents-cache.ts';

/** `npm run agents [-- claude codex …]`: installs the agents that tests run, once, into a cache outside the checkout. */
const { positionals } = parseArgs({ allowPositionals: true });
const tried = AGENT_ROWS.filter(row => row.isTried);
const unknown = positionals.find(id => tried.every(row => row.id !== id));
if (unknown !== undefined) {
  console.error(`There is no agent "${unknown}". Tests run: ${tried.map(row => row.id).join(', ')}.`);
  process.exit(2);
}

/** One unpacks while another one downloads; more only compete for the processors. */
const AT_ONCE = 2;

const cache = agentsCache();
console.log(`Agents for the tests, in ${cache}:`);
const waiting = tried.filter(({ id }) => positionals.length === 0 || positionals.includes(id));
const missing: string[] = [];
await Promise.all(Array.from({ length: AT_ONCE }, installNext));
if (missing.length > 0) {
  console.error(`Missing: ${missing.join(', ')}. Check that npm reaches its registry, then run this again.`);
  process.exitCode = 1;
}

async function installNext(): Promise<void> {
  for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) await install(row);
}

async function install(row: AgentRow): Promise<void> {
  const name = `${row.id} ${row.package?.version}`.padEnd(18);
  const begun = performance.now();
  const filled = await fillCache(row, cache);
  switch (filled.kind) {
    case 'present':
      console.log(`  ${name} is there`);
      break;
    case 'installed':
      console.log(`  ${name} installed in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
      break;
    case 'failed':
      missing.push(row.id);
      console.error(`  ${name} FAILED: ${row.title} was not installed: ${filled.reason}`);
      break;
  }
}
