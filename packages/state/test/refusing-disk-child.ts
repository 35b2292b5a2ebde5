// Calls tools in a directory on a disk of its own that is full, and then read-only, and prints what they say.
// node refusing-disk-child.ts DISK DATA
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { writeFile } from '../src/index.ts';
import { createTestRunner, must } from './builders.ts';
import { hasLayers, openLayered } from './layered.ts';

const [disk = '', data = ''] = process.argv.slice(2);
const root = `${disk}/root`;
fs.mkdirSync(root);
fs.writeFileSync(`${root}/file`, 'before');
const place = await openLayered(data, { root, data: `${data}/data` });
const runner = createTestRunner(place.state, { tools: [writeFile] });

const write = async (id: string) =>
  must(await runner.execute({ id, name: 'write_file', input: { path: 'file', content: 'x'.repeat(500_000) } }));
const command = async () => (hasLayers ? place.run('head -c 500000 /dev/zero > other') : null);
const content = () => fs.readFileSync(`${root}/file`, 'utf8');

fill();
const full = { write: await write('1'), command: await command(), content: content() };
fs.rmSync(`${disk}/ballast`);
execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
const readOnly = { write: await write('2'), command: await command(), content: content() };
process.stdout.write(JSON.stringify({ full, readOnly }));

function fill(): void {
  const ballast = fs.openSync(`${disk}/ballast`, 'a');
  for (let bytes = 65_536; bytes >= 1; ) {
    try {
      fs.writeSync(ballast, Buffer.alloc(bytes));
    } catch {
      bytes = Math.floor(bytes / 16);
    }
  }
  fs.closeSync(ballast);
}
