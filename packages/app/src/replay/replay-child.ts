/** The entry of a confined process: replays the bundle in its given directory, and leaves the verdict there. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { thisMachine } from '../machine.ts';
import { BUNDLE, VERDICT } from './confined-replay.ts';
import { verifyBundleReplay } from './verify-replay.ts';

const [directory = ''] = process.argv.slice(2);
const verdict = await verifyBundleReplay(path.join(directory, BUNDLE), { machine: thisMachine(), trust: true });
writeFileSync(path.join(directory, VERDICT), JSON.stringify(verdict));
