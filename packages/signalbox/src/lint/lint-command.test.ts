import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memoryTerminal } from '../../test/memory-terminal.ts';
import { main } from '../main.ts';

const HEAD = `import { definePlan, Each, Task } from 'signalbox';\n`;
const FINE = `${HEAD}export default definePlan({ name: 'fine', render: () => <Task id="a" run={() => 1} /> });`;
const NAMELESS = `${HEAD}export default definePlan({ name: 'nameless', render: () => <Task run={() => 1} /> });`;
const KEYLESS = `${HEAD}export default definePlan({ name: 'keyless', render: () => <Each items={[1]}>{n => <Task id={\`t\${n}\`} run={() => n} />}</Each> });`;

function plan(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'signalbox-lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'plan.tsx');
  writeFileSync(file, text);
  return file;
}

async function called(...args: readonly string[]) {
  const terminal = memoryTerminal();
  const code = await main(args, terminal);
  return { code, printed: terminal.printed.join('\n'), complained: terminal.complaints.join('\n') };
}

describe('signalbox lint', () => {
  it('[X4] fails for errors, and for warnings only where it is strict', async () => {
    const [fine, nameless, keyless] = [plan(FINE), plan(NAMELESS), plan(KEYLESS)];
    expect(await called('lint', fine)).toEqual({ code: 0, printed: 'No problems found.', complained: '' });
    expect(await called('lint', nameless)).toMatchObject({ code: 0 });
    expect(await called('lint', nameless, '--strict')).toMatchObject({ code: 1 });
    const all = await called('lint', fine, nameless, nameless, keyless);
    expect(all.code).toBe(1);
    expect(all.printed.split('\n')).toEqual([
      `${nameless}:2:61 warning <Task> has no id: it is identified by its place, and becomes another node when it moves in the plan. runnable-needs-id`,
      '  Give it a stable id, such as id="build".',
      `${keyless}:2:84 error A list item, <Task>, has no key: the plan cannot be rendered. list-needs-key`,
      '  Give it a unique, stable key: key={item.id}.',
      '1 error, 1 warning',
    ]);
  });

  it('prints JSON for programs, and refuses a file that is not there', async () => {
    const { printed } = await called('lint', plan(KEYLESS), '--json');
    expect(JSON.parse(printed)).toMatchObject([{ rule: 'list-needs-key', severity: 'error', line: 2, column: 84 }]);
    expect(await called('lint', '/nowhere/plan.tsx')).toMatchObject({ code: 2 });
  });

  it('comes before a run: warnings are told, errors refuse it, and --no-lint leaves it out', async () => {
    const keyless = plan(KEYLESS);
    const refused = await called('run', keyless, '--dry-run');
    expect(refused).toMatchObject({ code: 4, printed: '' });
    expect(refused.complained).toContain('and was not run');
    const unlinted = await called('run', keyless, '--dry-run', '--no-lint');
    expect(unlinted.code).toBe(1);
    expect(unlinted.complained).toContain('has no key');
    const warned = await called('run', plan(NAMELESS), '--dry-run');
    expect(warned.code).toBe(0);
    expect(warned.complained).toContain('runnable-needs-id');
  });
});
