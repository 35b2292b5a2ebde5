import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { signalbox, temporaryFolder } from './program.ts';

const folder = temporaryFolder();
const repository = fileURLToPath(new URL('../../../', import.meta.url));

function place() {
  const cwd = mkdtempSync(path.join(folder, 'authoring-'));
  return { cwd, say: (...args: readonly string[]) => signalbox(args, { cwd }) };
}

/** The commands of a page in order, each as its words. */
function commandsIn(page: string): readonly (readonly string[])[] {
  const blocks = [...page.matchAll(/```console\n([\s\S]*?)```/g)].map(([, block = '']) => block);
  const lines = blocks
    .join('\n')
    .split('\n')
    .filter(line => line.startsWith('$ signalbox '));
  return lines.map(line => (line.slice(12).match(/"[^"]*"|\S+/g) ?? []).map(word => word.replaceAll('"', '')));
}

describe('a stranger with nothing but the page on guided workflows', () => {
  it('[X87] writes, tests and installs a workflow of three steps by its commands', () => {
    const { cwd, say } = place();
    const page = readFileSync(path.join(repository, 'docs/guided-workflows.md'), 'utf8');
    const [, answers = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
    writeFileSync(path.join(cwd, 'answers.json'), answers);
    const said = commandsIn(page).map(words => ({ words, ...say(...words) }));
    expect(said.map(({ words, status, stderr }) => [words.slice(0, 2).join(' '), status, stderr])).toEqual([
      ['workflow new', 0, ''],
      ['workflow validate', 0, ''],
      ['workflow preview', 0, ''],
      ['workflow test', 0, ''],
      ['mcp install', 0, ''],
      ['workflow list', 0, ''],
    ]);
    expect(said[3]?.stdout).toBe('team.triage: 4 steps as expected, to the end.\n');
    expect(said[5]?.stdout).toContain('team.triage');
    expect(existsSync(path.join(cwd, '.mcp.json'))).toBe(true);
    const { $schema } = JSON.parse(readFileSync(path.join(cwd, '.signalbox/workflows/triage.json'), 'utf8'));
    const schema = JSON.parse(readFileSync(path.join(cwd, '.signalbox/workflows', $schema), 'utf8'));
    expect(schema.properties.steps.description).toContain('one at a time');
  });
});

describe('examples/09-guided', () => {
  it('[X87] is valid, and walked to its end by its answers', () => {
    const { cwd, say } = place();
    cpSync(path.join(repository, 'examples/09-guided'), cwd, { recursive: true });
    for (const words of commandsIn(readFileSync(path.join(cwd, 'README.md'), 'utf8'))) {
      expect([words, say(...words).status]).toEqual([words, 0]);
    }
    const answers = JSON.parse(readFileSync(path.join(cwd, 'triage.answers.json'), 'utf8'));
    writeFileSync(path.join(cwd, 'other.json'), JSON.stringify({ ...answers, steps: answers.steps.toSpliced(2, 1) }));
    const other = say('workflow', 'test', 'workflows/triage.json', '--answers', 'other.json', '--quiet');
    expect([other.status, other.stderr]).toEqual([
      1,
      'Answer 3 is for narrow@1::halve; the workflow is at narrow@0::halve.\n',
    ]);
  });
});

describe('workflow files', () => {
  it('[X88] are copied into an own namespace, never into wr or over a file', () => {
    const { cwd, say } = place();
    expect(say('workflow', 'copy', 'wr.code-review', 'team.review').status).toBe(0);
    expect(say('workflow', 'validate', 'team.review', '--strict').status).toBe(0);
    expect(say('workflow', 'copy', 'wr.code-review', 'team.review').status).toBe(2);
    for (const id of ['wr.mine', 'plain', 'Team.X']) expect(say('workflow', 'copy', 'wr.research', id).status).toBe(2);
    expect(JSON.parse(readFileSync(path.join(cwd, '.signalbox/workflows/review.json'), 'utf8')).id).toBe('team.review');
  });

  it('[X88] of a folder are imported under new ids with their references, and reported file by file', () => {
    const { cwd, say } = place();
    const step = { id: 'a', title: 'A', prompt: 'Do it.' };
    const file = (name: string, content: object) =>
      writeFileSync(path.join(cwd, 'from', name), JSON.stringify(content));
    mkdirSync(path.join(cwd, 'from/routines'), { recursive: true });
    const head = { name: 'N', description: 'd', version: '1.0.0' };
    file('routines/look.json', { id: 'routine-look', ...head, steps: [step] });
    const parallelDelegations = [{ workflowId: 'routine-look' }];
    file('wide.json', {
      id: 'wr.wide',
      ...head,
      steps: [{ id: 'p', title: 'P', type: 'parallel', parallelDelegations }],
    });
    file('bad.json', { id: 'bad', ...head, steps: [] });
    const said = say('workflow', 'import', 'from', '--json');
    const told = said.stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(told.map(({ file: name, status }) => [name, status])).toEqual([
      [path.join('routines', 'look.json'), 'imported'],
      ['bad.json', 'refused'],
      ['wide.json', 'imported'],
    ]);
    expect(said.status).toBe(1);
    const wide = JSON.parse(readFileSync(path.join(cwd, '.signalbox/workflows/wide.json'), 'utf8'));
    expect([wide.id, wide.steps[0].parallelDelegations[0].workflowId]).toEqual([
      'project.wide',
      'project.routine-look',
    ]);
    expect(say('workflow', 'preview', 'project.wide').stdout).toContain('Do it.');
  });

  it('[X88] can use what builtins lists', () => {
    const { say } = place();
    const kinds = new Set(
      say('workflow', 'builtins', '--json')
        .stdout.trim()
        .split('\n')
        .map(line => JSON.parse(line).kind),
    );
    for (const kind of ['contract', 'feature', 'ref', 'template', 'capability']) expect(kinds).toContain(kind);
  });
});
