import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkSource, withSnippet, workflowSnippets } from '@signalbox/app/guided';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entry } from './program.ts';

function place() {
  const cwd = mkdtempSync(path.join(tmpdir(), 'checks-'));
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
  const env = { ...process.env, HOME: cwd, SIGNALBOX_DATA_DIR: path.join(cwd, 'data') };
  const say = (...args: readonly string[]) =>
    spawnSync(process.execPath, [entry, 'workflow', ...args], { cwd, env, encoding: 'utf8' });
  const write = (name: string, content: unknown) =>
    writeFileSync(path.join(cwd, name), typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  const read = (name: string) => readFileSync(path.join(cwd, name), 'utf8');
  return { cwd, env, say, write, read };
}

const head = { name: 'N', description: 'd', version: '1.0.0' };
const evidence = { validationCriteria: [{ type: 'length', min: 80 }] };
const faulty = {
  id: 'old-flow',
  ...head,
  featurs: ['wr.features.capabilitis'],
  steps: [
    { id: 'First Step', title: 'A', promt: 'Do it.', prompt: 'Do it.', ...evidence },
    { id: 'b', title: 'B', prompt: 'Do it.', outputContract: { contractRef: 'wr.contracts.review_verdic' } },
    { id: 'c', title: 'C', prompt: 'Do it.', runCondition: { var: 'x', nonsense: 1 }, ...evidence },
  ],
};

describe('[X100] validate --fix', () => {
  it('shows what it would change and writes nothing, then changes exactly that', () => {
    const { say, write, read } = place();
    write('old.json', faulty);
    const before = read('old.json');
    const dry = say('validate', 'old.json', '--fix', '--dry-run');
    expect(dry.stdout).toContain('Would fix old.json:');
    for (const line of [
      '-   "id": "old-flow",',
      '+   "id": "project.old_flow",',
      '-   "featurs": [',
      '+   "features": [',
      '-       "id": "First Step",',
      '+       "id": "first-step",',
      '+         "contractRef": "wr.contracts.review_verdict"',
    ]) {
      expect(dry.stdout).toContain(line);
    }
    expect(read('old.json')).toBe(before);

    const fixed = say('validate', 'old.json', '--fix', '--strict');
    expect(fixed.stdout).toContain('Fixed old.json:');
    const [first, second, third] = faulty.steps;
    expect(JSON.parse(read('old.json'))).toEqual({
      id: 'project.old_flow',
      ...head,
      features: ['wr.features.capabilities'],
      steps: [
        // "promt" has a name that is meant, which the step has already.
        { ...first, id: 'first-step' },
        { ...second, outputContract: { contractRef: 'wr.contracts.review_verdict' } },
        third,
      ],
    });
    // What needs a choice is still reported.
    expect([fixed.status, fixed.stdout]).toEqual([1, expect.stringContaining('/steps/2/runCondition')]);
    expect(say('validate', 'old.json', '--fix').stdout).toContain('Nothing to fix by itself.');
  });

  it('keeps the indentation of the file, and refuses what is no file or no JSON', () => {
    const { say, write, read } = place();
    const tabs = JSON.stringify(
      { id: 'flow', ...head, steps: [{ id: 'a', title: 'A', prompt: 'p', ...evidence }] },
      null,
      '\t',
    );
    write('tabs.json', tabs);
    expect(say('validate', 'tabs.json', '--fix').status).toBe(0);
    expect(read('tabs.json')).toBe(tabs.replace('"flow"', '"project.flow"'));
    write('half.json', '{');
    for (const args of [
      ['half.json', '--fix'],
      ['wr.research', '--fix'],
      ['tabs.json', '--dry-run'],
      ['tabs.json', '--fix', '--watch'],
    ]) {
      expect([args, say('validate', ...args).status]).toEqual([args, 2]);
    }
    expect(read('half.json')).toBe('{');
  });
});

describe('[X101] watching', () => {
  it.each([['validate'], ['preview']])('%s looks again after each change until it is interrupted', async name => {
    const { cwd, env, write } = place();
    const flow = (title: string) => ({
      id: 'team.flow',
      ...head,
      steps: [{ id: 'a', title, prompt: title, ...evidence }],
    });
    write('flow.json', flow('First'));
    const child = spawn(process.execPath, [entry, 'workflow', name, 'flow.json', '--watch'], {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const closed = new Promise<number | null>(resolve => child.once('close', resolve));
    let told = '';
    let heard: () => void = () => undefined;
    child.stdout.setEncoding('utf8').on('data', text => {
      told += text;
      heard();
    });
    const until = async (isThere: (text: string) => boolean) => {
      while (!isThere(told))
        await new Promise<void>(resolve => {
          heard = resolve;
        });
      told = '';
    };
    await until(text => text.includes('sha256:'));
    write('flow.json', '{ "id": ');
    await until(text => text.includes('The file is not JSON'));
    write('flow.json', { ...flow('Second'), steps: [] });
    await until(text => text.includes('✗'));
    // As editors save: another file takes its place, more than once.
    for (const title of ['Third', 'Fourth']) {
      write('next.txt', flow(title));
      renameSync(path.join(cwd, 'next.txt'), path.join(cwd, 'flow.json'));
      await until(text => text.includes('sha256:'));
    }
    child.kill('SIGINT');
    expect(await closed).toBe(130);
  });
});

describe('[X102] snippets', () => {
  it('compile as they are, in strict mode without a warning, one after another into one file', async () => {
    const { cwd } = place();
    const all = workflowSnippets();
    const names = all.map(({ name }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['step', 'while', 'forEach', 'assessment', 'wr.contracts.review_verdict']),
    );
    const directories = [{ kind: 'project', directory: cwd }] as const;
    let source: Parameters<typeof withSnippet>[0] = { id: 'team.flow', ...head, steps: [] };
    for (const snippet of [...all, ...all]) source = withSnippet(source, snippet);
    const checked = await checkSource(source, { directories, mode: 'strict' });
    expect(checked.ok ? checked.value.warnings : checked.error.problems).toEqual([]);
  });

  it('are added to a file', () => {
    const { say, write, read } = place();
    write('flow.json', { id: 'team.flow', ...head, steps: [] });
    expect(say('snippets', 'step', '--into', 'flow.json').status).toBe(0);
    expect(JSON.parse(read('flow.json')).steps).toHaveLength(1);
  });

  it('are printed for a person and for VS Code, and an unknown one is refused', () => {
    const { say } = place();
    expect(JSON.parse(say('snippets', 'while').stdout).steps[0].loop.type).toBe('while');
    const code = JSON.parse(say('snippets', '--vscode').stdout);
    expect(JSON.parse(code.forEach.body.join('\n')).loop.type).toBe('forEach');
    for (const args of [['nothing'], ['while', '--into', 'none.json']]) expect(say('snippets', ...args).status).toBe(2);
  });
});

it('[X103] inspect shows what the hash covers', () => {
  const { say } = place();
  const { stdout } = say('inspect', 'wr.code-review');
  expect(stdout).toMatch(/In the hash.*not in it: tokens/);
  expect(stdout).toMatch(/^ +\d+ {2}steps +\d+: understand, /m);
  expect(stdout).toMatch(/^ +\d+ {2}contracts +\d+: wr\.contracts\./m);
  const { hashed } = JSON.parse(say('inspect', 'wr.code-review', '--json').stdout);
  const { snapshot } = JSON.parse(say('compile', 'wr.code-review', '--json').stdout);
  for (const { part } of hashed) expect(snapshot).toHaveProperty([part]);
});

it('[X104] a source that is elsewhere is refused by name, and nothing is fetched', () => {
  const { say } = place();
  for (const args of [
    ['import', 'https://127.0.0.1:1/flows'],
    ['validate', 'git@example.org:team/flows.git'],
    ['preview', 'npm:team-flows'],
    ['inspect', 'plugin:team-flows'],
    ['compile', 'https://127.0.0.1:1/flow.json'],
    ['list', '--workflows', 'github:team/flows'],
  ]) {
    const refused = say(...args);
    expect([args, refused.status]).toEqual([args, 2]);
    expect(refused.stderr).toContain(`${args.at(-1)} is `);
    expect(refused.stderr).toContain('signalbox workflow import DIR');
  }
  for (const args of [
    ['copy', 'npm:flows', 'team.flows'],
    ['test', 'npm:flows', '--answers', 'none.json'],
  ]) {
    expect(say(...args)).toMatchObject({ status: 2, stderr: expect.stringContaining('npm:flows is in a package') });
  }
});

it('[X151] an answers file that cannot be used is refused by name, with every problem; so is an unknown kind of builtin', () => {
  const { cwd, say } = place();
  const refused = (...args: readonly string[]) => {
    const { status, stderr } = say(...args);
    return [status, stderr.split('\n')[0]];
  };
  const tried = () => refused('test', 'wr.research', '--answers', 'a.json');
  expect(tried()).toEqual([2, 'error: There is no file a.json.']);
  writeFileSync(path.join(cwd, 'a.json'), '[');
  expect(tried()).toEqual([2, 'error: a.json is not a JSON object.']);
  writeFileSync(path.join(cwd, 'a.json'), '{"steps":[{"step":1},{"notes":"x"}]}');
  expect(tried()).toEqual([
    2,
    'error: The answers in a.json cannot be used. steps.0.step: Invalid input: expected string, received number; ' +
      'steps.1.step: Invalid input: expected string, received undefined.',
  ]);
  expect(refused('builtins', '--kind', 'nope')).toEqual([2, 'error: There is no kind "nope".']);
});
