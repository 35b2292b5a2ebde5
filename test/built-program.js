// Starts the built program as the installed one starts (`bin/start.js`), with its compiled code in the repository's cache. In
// JavaScript, because stripping types takes longer than the rest of a short command.
import { main } from '../packages/signalbox/dist/main.js';

const code = process.getBuiltinModule('node:path').join(import.meta.dirname, '../node_modules/.cache/code');
process.exitCode = await main(process.argv.slice(2), code);
