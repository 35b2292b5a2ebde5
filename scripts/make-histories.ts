// Makes the golden histories again: runs every plan of spec/histories/plans and exports it.
//   node scripts/make-histories.ts [NAME…]
// A history is made once, and replayed for ever by packages/app/test/histories.test.ts. Make one anew only where frames are meant to
// come out otherwise, and say why in the commit: a history that is made anew no longer says what older runs look like.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHome, type RunAction, type RunHost, type RunId, thisMachine } from '@signalbox/app/host';

const histories = fileURLToPath(new URL('../spec/histories/', import.meta.url));
/** The same for everyone who makes them: it is part of what is kept. */
const FOLDER = '/tmp/signalbox-histories';

/** Acts on a run from outside until it has ended. */
const stories: Readonly<Record<string, (host: RunHost, run: RunId) => Promise<void>>> = {
  people: answerAll,
  async signals(host, run) {
    await host.finished(run);
    await tell(host, run, { kind: 'signal', name: 'ping', payload: { n: 1 } });
    await goOn(host, run);
    await tell(host, run, { kind: 'signal', name: 'noted', payload: null });
    await tell(host, run, { kind: 'stop', reason: 'for the story' });
    await goOn(host, run);
    await tell(host, run, { kind: 'signal', name: 'ping', payload: { n: 2 } });
    await goOn(host, run);
  },
  async failures(host, run) {
    await host.finished(run);
    await tell(host, run, { kind: 'retry', node: 'second-time' });
    await host.finished(run);
  },
  async timers(host, run) {
    await waitsFor(host, run, 'long');
    await tell(host, run, { kind: 'pause' });
    await host.finished(run);
    await host.resume(run);
    await waitsFor(host, run, 'long');
    await tell(host, run, { kind: 'signal', name: 'wake', payload: null });
    await host.finished(run);
  },
};

const asked = process.argv.slice(2);
const names = readdirSync(path.join(histories, 'plans'))
  .filter(file => file.endsWith('.tsx'))
  .map(file => file.slice(0, -'.tsx'.length))
  .filter(name => asked.length === 0 || asked.includes(name));
for (const name of names) await make(name);

async function make(name: string): Promise<void> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  cpSync(path.join(histories, 'plans'), path.join(FOLDER, 'plans'), { recursive: true });
  const home = await openHome({
    dataDirectory: path.join(FOLDER, 'data'),
    machine: thisMachine(),
    env: {},
    threads: { threads: 1 },
  });
  if (!home.ok) throw new Error(home.error.message);
  const { host } = home.value;
  const started = await host.start({ anyFile: true, file: path.join(FOLDER, 'plans', `${name}.tsx`), input: {} });
  if (!started.ok) throw new Error(started.error.message);
  const run = started.value;
  await stories[name]?.(host, run);
  await host.finished(run);
  const record = await host.reader.run(run);
  const file = path.join(histories, `${name}.bundle`);
  const written = await host.bundles.export(run, file);
  if (!written.ok) throw new Error(written.error.message);
  console.log(`${name}: ${record?.status}, ${record?.frames} frames, ${written.value.bytes} bytes`);
  await home.value.close();
  rmSync(FOLDER, { recursive: true, force: true });
}

async function answerAll(host: RunHost, run: RunId): Promise<void> {
  await host.finished(run);
  for (;;) {
    const open = await host.reader.decisions({ run, status: ['open'] });
    if (open.length === 0) return;
    for (const { decision } of open) {
      const resolution = { resolutionType: 'approve', rationale: 'fine', actionKind: 'review' } as const;
      await host.answer(decision.id, { resolution }, 'ada');
    }
    await goOn(host, run);
  }
}

async function waitsFor(host: RunHost, run: RunId, timer: string): Promise<void> {
  const isSet = async () =>
    (await host.reader.run(run))?.status === 'running' &&
    (await host.reader.tasks(run)).some(({ node, blockReason }) => node === timer && blockReason?.startsWith('timer:'));
  while (!(await isSet())) await setTimeout(5);
}

async function goOn(host: RunHost, run: RunId): Promise<void> {
  await host.resume(run);
  await host.finished(run);
}

async function tell(host: RunHost, run: RunId, action: RunAction): Promise<void> {
  const told = await host.act(run, action, 'ada');
  if (!told.ok) throw new Error(told.error.message);
}
