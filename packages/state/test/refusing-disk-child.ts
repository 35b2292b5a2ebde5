// Calls tools in a directory on a disk of its own that is full, and then read-only, and prints what they say.
// node refusing-disk-child.ts DISK DATA
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { openJsonlBackend, writeFile } from '../src/index.ts';
import { createTestRunner, must, plan } from './builders.ts';
import { hasLayers, openLayered } from './layered.ts';

const [disk = '', data = ''] = process.argv.slice(2);
const root = `${disk}/root`;
fs.mkdirSync(root);
fs.writeFileSync(`${root}/file`, 'before');
const place = await openLayered(data, { root, data: `${data}/data` });
const runner = createTestRunner(place.state, { tools: [writeFile] });
const slices = must(openJsonlBackend(`${disk}/slices`, [plan]));
const item = (objective: string) => ({ slice: plan.name, operation: { kind: 'append', item: { objective } } }) as never;
must(slices.write([item('kept')]));

const write = async (id: string) =>
  must(await runner.execute({ id, name: 'write_file', input: { path: 'file', content: 'x'.repeat(500_000) } }));
const command = async () => (hasLayers ? place.run('head -c 500000 /dev/zero > other') : null);
const content = () => fs.readFileSync(`${root}/file`, 'utf8');

fill();
const full = { write: await write('1'), command: await command(), content: content() };
// There is room for the first part of it.
fs.truncateSync(`${disk}/ballast`, fs.statSync(`${disk}/ballast`).size - 8192);
const sliced = slices.write([item('x'.repeat(100_000))]);
fs.rmSync(`${disk}/ballast`);
const again = slices.write([item('again')]);
const lines = fs.readFileSync(`${disk}/slices/${plan.name}.jsonl`, 'utf8');
execFileSync('mount', ['-o', 'remount,bind,ro', disk]);
const readOnly = { write: await write('2'), command: await command(), content: content() };
process.stdout.write(JSON.stringify({ full, sliced, again, lines, readOnly }));

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
