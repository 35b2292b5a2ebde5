// A turn on a layer that changes many files, with its program's calls told apart and without.
//
// `moreMs` is what telling them apart adds to the turn: one call that changes all files, then ten that change one file each. `lookMs` is the
// look before each of those ten, `keepMs` the look after it. Medians of one run in which both are interleaved.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import {
  AGENT_LIMITS,
  type AnyTool,
  defineTool,
  detectSandbox,
  type InnerCalls,
  OtherLayerNeeded,
  succeed,
} from '@signalbox/state';
import * as z from 'zod';
import { openRunner, plant } from './commands.ts';

const FILES = 1000;
const SMALL = 10;
const LOOP = 'while read -r line; do eval "$line"; echo ok; done';

export async function benchInnerCalls(
  base: string,
  rounds: number,
  print: (line: Record<string, unknown>) => void,
): Promise<void> {
  const detected = await detectSandbox();
  if (!detected.ok) return print({ bench: 'inner calls', skipped: detected.error.message });
  const sandbox = detected.value;
  const directory = fs.mkdtempSync(path.join(base, 'inner-'));
  const times = new Map<string, number[]>();
  const note = (name: string, ms: number) => times.set(name, [...(times.get(name) ?? []), ms]);
  let isFollowed = false;
  let round = 0;

  const timed = async (name: string, work: () => Promise<unknown>) => {
    const started = performance.now();
    await work();
    note(name, performance.now() - started);
  };
  const turn = async (run: (script: string) => Promise<void>, inner: InnerCalls) => {
    const call = async (id: string, script: string) => {
      if (!isFollowed) return run(script);
      await timed(`look ${id}`, () => inner.begin(id));
      await run(script);
      await timed(`keep ${id}`, () => inner.end(id, { id, tool: 'edit', outcome: 'succeeded', summary: null }));
    };
    await call('all', `for f in */f*; do echo ${round} > $f; done`);
    for (let at = 0; at < SMALL; at++) await call('one', `echo ${round} ${at} > 0/f0.txt`);
  };
  const tool: AnyTool = defineTool({
    ...{ name: 'turn', description: '', input: z.strictObject({}), output: z.strictObject({}), risk: 'low' },
    effects: { kind: 'files', onLayer: true },
    async handler(_, { root, refused, layer, inner }) {
      if (root === null || layer === undefined || inner === undefined) throw new Error('There is no layer here.');
      const home = `${directory}/home`;
      fs.mkdirSync(home, { recursive: true });
      const program = sandbox.open({
        ...{ command: ['/bin/sh', '-c', LOOP], root, refused, layer, home, readable: [], limits: AGENT_LIMITS },
        variables: { PATH: '/usr/bin:/bin' },
      });
      const lines = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
      try {
        await turn(async script => {
          program.stdin.write(`${script}\n`);
          if ((await lines.next()).done === true && (await program.ended).kind === 'other layer')
            throw new OtherLayerNeeded();
        }, inner);
      } finally {
        program.stop();
        await program.ended;
      }
      return succeed({});
    },
  });
  try {
    plant(`${directory}/tree`, FILES);
    const runner = await openRunner(`${directory}/data`, `${directory}/tree`, tool);
    for (; round < rounds + 1; round++) {
      if (round === 1) times.clear();
      for (const name of ['bare', 'ours']) {
        isFollowed = name === 'ours';
        const started = performance.now();
        const done = await runner.execute({ id: `${name}-${round}`, name: 'turn', input: {} });
        if (!done.ok || done.value.status !== 'succeeded') throw new Error(JSON.stringify(done));
        note(name, performance.now() - started);
      }
    }
    const median = (name: string) => {
      const all = [...(times.get(name) ?? [])].sort((a, b) => a - b);
      return Math.round((all[Math.floor(all.length / 2)] ?? 0) * 10) / 10;
    };
    print({
      ...{ bench: 'inner calls', changed: FILES, ms: median('ours'), bareMs: median('bare') },
      moreMs: Math.round((median('ours') - median('bare')) * 10) / 10,
      ...{ keepAllMs: median('keep all'), lookMs: median('look one'), keepMs: median('keep one') },
    });
  } finally {
    fs.rmSync(directory, { recursive: true, force: true });
  }
}
