import { parseArgs } from 'node:util';
import { AGENT_ROWS } from '@signalbox/adapters/acp';
import { agentsCache, fillCache } from './agents-cache.ts';

/** `npm run agents [-- claude codex …]`: installs the agents that tests run, once, into a cache outside the checkout. */
const { positionals } = parseArgs({ allowPositionals: true });
const tried = AGENT_ROWS.filter(row => row.isTried);
const unknown = positionals.find(id => tried.every(row => row.id !== id));
if (unknown !== undefined) {
  console.error(`There is no agent "${unknown}". Tests run: ${tried.map(row => row.id).join(', ')}.`);
  process.exit(2);
}

const cache = agentsCache();
console.log(`Agents for the tests, in ${cache}:`);
for (const row of tried.filter(({ id }) => positionals.length === 0 || positionals.includes(id))) {
  const name = `${row.id} ${row.package?.version}`.padEnd(18);
  process.stdout.write(`  ${name} `);
  const begun = performance.now();
  const filled = await fillCache(row, cache);
  switch (filled.kind) {
    case 'present':
      console.log('is there');
      break;
    case 'installed':
      console.log(`installed in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
      break;
    case 'failed':
      console.log('FAILED');
      console.error(`${row.title} was not installed: ${filled.reason}`);
      process.exitCode = 1;
      break;
  }
}
