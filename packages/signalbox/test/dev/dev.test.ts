import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { main } from '../../src/main.ts';
import type { Terminal } from '../../src/terminal.ts';
import { entry, ownEnvironment } from '../program.ts';

let folder = '';
/** Elsewhere: what is written into it is no change of the plan. */
let data = '';
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'dev-'));
  data = mkdtempSync(path.join(tmpdir(), 'dev-data-'));
});
afterEach(() => {
  for (const made of [folder, data]) rmSync(made, { recursive: true, force: true });
});

const write = (name: string, text: string) => writeFileSync(path.join(folder, name), text);
const planText = (body: string, state = '') => `import { Agent, definePlan, Human, Phase, Task } from 'signalbox';
import * as z from 'zod';
export default definePlan({ name: 'test', state: z.object({ ${state} }), render: ctx => (<>${body}</>) });
`;
const task = (run: string) => planText(`<Task id="work" retry={{ attempts: 1 }} run={${run}} />`);

/** A terminal with a person at it, and what it shows. */
function attended(answers: readonly string[] = []) {
  let text = '';
  let from = 0;
  let press = (_: string) => {};
  let wake = () => {};
  const left = [...answers];
  const show = (line: string) => {
    text += `${line}\n`;
    wake();
  };
  const terminal: Terminal = {
    print: show,
    complain: show,
    hasColours: false,
    ask: async () => left.shift(),
    keys(pressed) {
      press = pressed;
      return () => {
        press = () => {};
      };
    },
  };
  return {
    terminal,
    press: (key: string) => press(key),
    /** What was shown since the last call, once that is there. */
    async until(pattern: RegExp): Promise<string> {
      for (;;) {
        const found = pattern.exec(text.slice(from));
        if (found !== null) {
          const shown = text.slice(from, from + found.index + found[0].length);
          from += found.index + found[0].length;
          return shown;
        }
        await new Promise<void>(resolve => {
          wake = resolve;
        });
      }
    },
  };
}

const HELP = /r run .* q quit/;

it('[X140] checks a plan at every save, runs it on a key, and resumes a failed run with the change', async () => {
  write('plan.tsx', task(`() => 1`));
  const { terminal, press, until } = attended();
  const ended = main(['dev', path.join(folder, 'plan.tsx'), '--data-dir', data], terminal);
  expect(await until(HELP)).toMatch(/Console: http[\s\S]*Would start first: work/);
  write('plan.tsx', planText(`<Task run={() => { throw new TypeError('broken'); }} retry={{ attempts: 1 }} />`));
  expect(await until(HELP)).toContain('runnable-needs-id');
  write('plan.tsx', task(`() => { throw new TypeError('broken'); }`));
  await until(HELP);
  press('r');
  expect(await until(HELP)).toMatch(/broken[\s\S]*failed/);
  write('plan.tsx', task(`() => 'mended'`));
  await until(HELP);
  press('u');
  expect(await until(HELP)).toContain('completed');
  press('u');
  await until(/no run to resume/);
  write('plan.tsx', 'export default 1;');
  expect(await until(HELP)).toContain('error');
  press('q');
  expect(await ended).toBe(0);
});

it('[X140] asks at the terminal what the run asks, and follows it on', async () => {
  write(
    'plan.tsx',
    planText(
      `<Phase name="a"><Human id="ok" prompt="Ship it?" /></Phase><Phase name="b"><Task id="ship" run={() => 1} /></Phase>`,
    ),
  );
  const { terminal, press, until } = attended(['y']);
  const ended = main(['dev', path.join(folder, 'plan.tsx'), '--data-dir', data], terminal);
  await until(HELP);
  press('r');
  expect(await until(/completed/)).toMatch(/Ship it\?/);
  press('q');
  expect(await ended).toBe(0);
});

it('[X141] agents answer without models: from a file, by their schema, or not at all', async () => {
  write(
    'plan.tsx',
    planText(
      `<Agent id="one" model="anthropic:none" prompt="?" retry={{ attempts: 1 }} onFinished={text => ctx.state.set('one', text)} />
<Agent id="two" model="anthropic:none" prompt="?" retry={{ attempts: 1 }} schema={z.object({ tags: z.array(z.string()).min(1), size: z.number().int().min(3), kind: z.enum(['a', 'b']) })} onFinished={two => ctx.state.set('two', two)} />`,
      'one: z.string().optional(), two: z.unknown()',
    ),
  );
  write('rehearsal.json', '{"o*": "from the file"}');
  const { terminal, press, until } = attended();
  const ended = main(['dev', path.join(folder, 'plan.tsx'), '--data-dir', data], terminal);
  await until(HELP);
  press('r');
  expect(await until(HELP)).toMatch(/from the file[\s\S]*"size":3/);
  write('rehearsal.json', '{"two": "no object"}');
  press('r');
  expect(await until(/The output of "two" in \S+rehearsal\.json does not fit/)).toBeDefined();
  press('q');
  expect(await ended).toBe(0);
});

it('[X140] without a terminal it prints lines, resumes after a change, and ends on a signal', async () => {
  write('plan.tsx', task(`() => { throw new TypeError('broken'); }`));
  const child = spawn(process.execPath, [entry, 'dev', 'plan.tsx', '--run'], {
    cwd: folder,
    env: { ...ownEnvironment(folder), SIGNALBOX_DATA_DIR: data },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  try {
    let told = '';
    let wake = () => {};
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        told += text;
        wake();
      });
    const until = async (pattern: RegExp) => {
      while (!pattern.test(told))
        await new Promise<void>(resolve => {
          wake = resolve;
        });
    };
    const closed = new Promise(resolve => child.once('close', resolve));
    await until(/broken[\s\S]*failed/);
    write('plan.tsx', task(`() => 'mended'`));
    await until(/completed/);
    expect(told).not.toMatch(HELP);
    child.kill('SIGTERM');
    expect(await closed).toBe(143);
  } finally {
    child.kill('SIGKILL');
  }
});
