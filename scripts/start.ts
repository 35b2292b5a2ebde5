import { main } from '../packages/signalbox/src/main.ts';
import { buildConsole } from './build-console.ts';
import { isConsoleStale } from './staleness.ts';

if (isConsoleStale()) {
  console.error('Building the console.');
  buildConsole();
}
process.exitCode = await main(['demo', ...process.argv.slice(2)]);
