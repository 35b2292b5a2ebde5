import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { portableHasher } from '@signalbox/model';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWorkflowLibrary, type WorkflowListing, type WorkflowPlace, workflowLimits } from '../../src/index.ts';
import { walkDirectory, walkLimits } from '../../src/sources/directory-walk.ts';
import { readWorkflowFile } from '../../src/sources/workflow-file.ts';
import { stepOf, workflowOf } from '../compile/sources.ts';

let home: string;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'workflows-'));
});

afterEach(async () => {
  await rm(home, { recursive: true, force: true });
});

async function put(file: string, content: unknown): Promise<string> {
  const full = path.join(home, file);
  await mkdir(path.dirname(full), { recursive: true });
  await writeFile(full, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return full;
}

const named = (id: string, more = {}) => workflowOf([stepOf('a')], { id, ...more });
const place = (kind: WorkflowPlace['kind'], directory: string): WorkflowPlace => ({
  kind,
  directory: path.join(home, directory),
});
const open = (...places: WorkflowPlace[]) => openWorkflowLibrary({ hasher: portableHasher, places });
const own = (workflows: readonly WorkflowListing[]) => workflows.filter(each => each.sourceKind !== 'bundled');

describe('[W27] discovery', () => {
  it('lists what is in every place, with where it comes from and what its id is', async () => {
    await put('p/deep/x.json', named('project.x'));
    await put('p/old-flow.json', named('old-flow'));
    await put('u/old-flow.json', named('user.old_flow'));
    const { workflows, problems } = await open(
      place('project', 'p'),
      place('user', 'u'),
      place('user', 'missing'),
    ).discover();
    expect(problems).toEqual([]);
    expect(own(workflows).map(({ compiled, name, description, version, isRoutine, ...rest }) => rest)).toEqual([
      {
        workflowId: 'old-flow',
        idStatus: 'legacy',
        suggestedId: 'project.old_flow',
        sourceKind: 'project',
        sourceRef: 'old-flow.json',
      },
      { workflowId: 'project.x', idStatus: 'namespaced', sourceKind: 'project', sourceRef: 'deep/x.json' },
      { workflowId: 'user.old_flow', idStatus: 'namespaced', sourceKind: 'user', sourceRef: 'old-flow.json' },
    ]);
  });

  it('gives a suffix to a suggestion that is taken', async () => {
    await put('u/old-flow.json', named('old-flow'));
    await put('u/new.json', named('user.old_flow'));
    const { workflows } = await open(place('user', 'u')).discover();
    expect(own(workflows)[0]?.suggestedId).toMatch(/^user\.old_flow_[0-9a-f]{4}$/);
  });

  it('lets the first place win, says what is hidden, and lets nothing hide what is bundled', async () => {
    await put('p/a.json', named('team.a', { name: 'of the project' }));
    await put('u/a.json', named('team.a', { name: 'of the user' }));
    await put('p/wr.json', named('wr.code-review', { name: 'not ours' }));
    const library = open(place('project', 'p'), place('user', 'u'));
    const { workflows, problems } = await library.discover();
    expect(own(workflows).map(each => each.name)).toEqual(['of the project']);
    expect(problems.map(each => [each.sourceKind, each.sourceRef, each.code])).toEqual([
      ['project', 'wr.json', 'shadowed'],
      ['user', 'a.json', 'shadowed'],
    ]);
    await put('p/wr.json', named('wr.mine'));
    const mine = await library.find('wr.mine');
    expect(mine.ok ? undefined : mine.error.code).toBe('workflow/invalid');
  });

  it('uses the routines of every place as templates, the bundled ones first', async () => {
    await put('p/routines/own.json', named('routine-own'));
    await put('p/routines/design-review.json', named('routine-design-review'));
    const call = (id: string, routine: string) => ({
      id,
      title: id,
      templateCall: { templateId: `wr.templates.routine.${routine}`, args: { deliverableName: 'it' } },
    });
    await put('p/x.json', workflowOf([call('a', 'own'), call('b', 'design-review')]));
    const found = await open(place('project', 'p')).find('project.sample');
    expect(found.ok && found.value.compiled.snapshot.steps.map(step => step.stepId)).toEqual([
      'a_a',
      'b_read',
      'b_findings',
    ]);
  });
});

describe('[W31] what cannot be read', () => {
  it('is reported, and the rest is listed', async () => {
    await put('p/good.json', named('project.good'));
    await put('p/invalid.json', { ...named('project.invalid'), steps: [{ id: 'x' }] });
    await put('p/broken.json', '{"id": ');
    await put('p/bytes.json', Buffer.from([0xff, 0xfe, 0x00]));
    await put('p/large.json', `"${'x'.repeat(workflowLimits.fileBytes)}"`);
    await put('p/other.json', { name: 'package' });
    await put('p/notes.txt', 'no');
    const { workflows, problems } = await open(place('project', 'p')).discover();
    expect(own(workflows).map(each => [each.workflowId, each.compiled.ok])).toEqual([
      ['project.good', true],
      ['project.invalid', false],
    ]);
    expect(problems.map(each => [each.sourceRef, each.code])).toEqual([
      ['broken.json', 'not_json_file'],
      ['bytes.json', 'not_text'],
      ['large.json', 'too_large_file'],
      ['other.json', 'not_a_workflow'],
    ]);
  });

  it('is a directory named like a file, or a place that is a file', async () => {
    await put('p/dir.json/x.json', named('project.x'));
    await put('file', 'x');
    const { workflows, problems } = await open(place('project', 'p'), place('user', 'file')).discover();
    expect(own(workflows).map(each => each.sourceRef)).toEqual(['dir.json/x.json']);
    expect(problems.map(each => each.code)).toEqual(['unreadable_directory']);
  });
});

it('[W31] a file is not opened through a link, and only a plain file is read', async () => {
  const file = await put('x.json', named('project.x'));
  await symlink(file, path.join(home, 'link.json'));
  const readings = await Promise.all(
    ['x.json', 'link.json', '.', 'missing.json'].map(each => readWorkflowFile(path.join(home, each), portableHasher)),
  );
  expect(readings.map(each => (each.ok ? each.value.source : each.error.message))).toEqual([
    named('project.x'),
    'The file cannot be opened (ELOOP). Make it a plain file that you may read.',
    'It is not a plain file. Make it a plain file that you may read.',
    'The file cannot be opened (ENOENT). Make it a plain file that you may read.',
  ]);
});

describe('[W32] the walk', () => {
  it('looks at so many entries and no more', async () => {
    for (const name of ['a', 'b', 'c', 'd']) await put(`p/${name}.json`, '{}');
    const walk = await walkDirectory(path.join(home, 'p'), { ...walkLimits, entries: 3 });
    expect(walk.files.length).toBe(3);
    expect(walk.problems.map(each => each.code)).toEqual(['too_many_entries']);
  });

  it('skips what people did not write, follows no link, and ends', async () => {
    await put('outside/secret.json', named('project.secret'));
    for (const skipped of ['node_modules/m', '.git', '.hidden', 'dist', 'a/node_modules']) {
      await put(`p/${skipped}/x.json`, named('project.skipped'));
    }
    await put('p/a/kept.json', named('project.kept'));
    await symlink(path.join(home, 'outside/secret.json'), path.join(home, 'p/link.json'));
    await symlink(path.join(home, 'outside'), path.join(home, 'p/linked'));
    await symlink(path.join(home, 'p'), path.join(home, 'p/a/circle'));
    await put(`p/${'d/'.repeat(walkLimits.depth + 1)}deep.json`, named('project.deep'));
    const { workflows, problems } = await open(place('project', 'p')).discover();
    expect(own(workflows).map(each => each.sourceRef)).toEqual(['a/kept.json']);
    expect(problems.map(each => [each.code, each.sourceRef.slice(0, 8)]).sort()).toEqual([
      ['symbolic_link', 'a/circle'],
      ['symbolic_link', 'link.jso'],
      ['symbolic_link', 'linked'],
      ['too_deep', 'd/d/d/d/'],
    ]);
  });

  it('starts in a place that is a link', async () => {
    await put('real/x.json', named('project.x'));
    await symlink(path.join(home, 'real'), path.join(home, 'p'));
    expect(own((await open(place('project', 'p')).discover()).workflows).map(each => each.sourceRef)).toEqual([
      'x.json',
    ]);
  });
});

describe("[W37] a project's own directory", () => {
  it('that is a link out of the project is named and not followed, wherever the link stands', async () => {
    await put('elsewhere/workflows/x.json', named('project.x'));
    for (const [project, link, target] of [
      ['one', '.signalbox/workflows', 'elsewhere/workflows'],
      ['two', '.signalbox', 'elsewhere'],
    ] as const) {
      await mkdir(path.dirname(path.join(home, project, link)), { recursive: true });
      await symlink(path.join(home, target), path.join(home, project, link));
      const { workflows, problems } = await open(place('project', `${project}/.signalbox/workflows`)).discover();
      expect(own(workflows)).toEqual([]);
      expect(problems).toMatchObject([
        { code: 'symbolic_link', sourceRef: '.', message: expect.stringContaining('--workflows') },
      ]);
    }
  });

  it('may be a link inside the project; a person may link their own, or name any directory', async () => {
    await put('project/real/x.json', named('project.x'));
    await mkdir(path.join(home, 'project/.signalbox'));
    await symlink(path.join(home, 'project/real'), path.join(home, 'project/.signalbox/workflows'));
    await mkdir(path.join(home, 'person/.signalbox'), { recursive: true });
    await symlink(path.join(home, 'project/real'), path.join(home, 'person/.signalbox/workflows'));
    for (const each of [
      place('project', 'project/.signalbox/workflows'),
      place('user', 'person/.signalbox/workflows'),
      place('project', 'project/real'),
    ]) {
      expect(own((await open(each).discover()).workflows).map(({ sourceRef }) => sourceRef)).toEqual(['x.json']);
    }
  });
});

it('[W31] a file of ten megabytes is named with what to do, and not read; so is it to who asks for what it holds', async () => {
  await put('p/huge.json', `{"id":"project.x","steps":[],"about":"${'x'.repeat(10 * 1024 * 1024)}"}`);
  const library = open(place('project', 'p'));
  const found = await library.find('project.huge');
  expect(found.ok ? undefined : found.error).toMatchObject({
    code: 'workflow/unknown',
    message: expect.stringContaining('1 could not be read. huge.json: The file takes'),
    suggestion: expect.stringContaining('Mend what could not be read'),
  });
  const { problems } = await library.discover();
  expect(problems).toMatchObject([
    { code: 'too_large_file', sourceRef: 'huge.json', message: expect.stringContaining('Move steps into routines') },
  ]);
});

describe('[W33] a second look', () => {
  it('answers what did not change from memory, and what did anew', async () => {
    const library = open(place('project', 'p'));
    await put('p/a.json', named('project.a'));
    await put('p/b.json', named('project.b'));
    const first = own((await library.discover()).workflows);
    const second = own((await library.discover()).workflows);
    expect(second.map((each, index) => each.compiled === first[index]?.compiled)).toEqual([true, true]);
    await put('p/b.json', named('project.b', { name: 'Renamed' }));
    await put('p/c.json', named('project.c'));
    await rm(path.join(home, 'p/a.json'));
    const third = own((await library.discover()).workflows);
    expect(third.map(each => [each.workflowId, each.name])).toEqual([
      ['project.b', 'Renamed'],
      ['project.c', 'Sample'],
    ]);
  });

  it('compiles anew when a routine changed', async () => {
    const library = open(place('project', 'p'));
    await put('p/routines/r.json', named('routine-r'));
    await put(
      'p/x.json',
      workflowOf([{ id: 'go', title: 'Go', templateCall: { templateId: 'wr.templates.routine.r' } }]),
    );
    const before = await library.find('project.sample');
    await put('p/routines/r.json', workflowOf([stepOf('changed')], { id: 'routine-r' }));
    const after = await library.find('project.sample');
    expect([before, after].map(each => each.ok && each.value.compiled.snapshot.steps[0]?.stepId)).toEqual([
      'go_a',
      'go_changed',
    ]);
  });
});

describe('[W34] a workflow that is asked for', () => {
  it('by the id it had before its namespace is found, with its canonical id', async () => {
    const library = open();
    for (const alias of ['code-review', 'code_review']) {
      const found = await library.find(alias);
      expect(found.ok && [found.value.listing.workflowId, found.value.canonicalId]).toEqual([
        'wr.code-review',
        'wr.code-review',
      ]);
    }
    const found = await library.find('wr.code-review');
    expect(found.ok && found.value.canonicalId).toBeUndefined();
  });

  it('and is not there, or not right, is refused with what to do', async () => {
    await put('p/x.json', { ...named('project.x'), steps: [{ id: 'x', title: 'X' }] });
    const library = open(place('project', 'p'));
    const refusals = await Promise.all(['wr.code-reveiw', 'project.x', '__proto__'].map(id => library.find(id)));
    expect(refusals.map(each => !each.ok && [each.error.code, each.error.suggestion, each.error.details])).toEqual([
      ['workflow/unknown', 'Did you mean "wr.code-review"?', undefined],
      [
        'workflow/invalid',
        'Add one of "prompt", "promptBlocks" and "templateCall".',
        { problems: ['prompt_source at #/steps/0'] },
      ],
      ['workflow/unknown', 'List the workflows and use an id from there.', undefined],
    ]);
  });
});
