import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { planPlaces, projectOf } from './plan-places.ts';

const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'places-')));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (...parts: readonly string[]) => path.join(folder, ...parts);

const project = at('project');
const data = at('project', 'data');
for (const one of ['project/data', 'project/plans', 'projects', 'elsewhere', 'more'])
  mkdirSync(at(one), { recursive: true });
for (const file of ['project/a.tsx', 'projects/a.tsx', 'elsewhere/a.tsx', 'more/a.tsx', 'project/data/token'])
  writeFileSync(at(file), '');
symlinkSync(at('elsewhere'), at('project', 'out'));
symlinkSync(at('project', 'data', 'token'), at('project', 'token.tsx'));
symlinkSync(at('nowhere'), at('project', 'dangling.tsx'));
symlinkSync(project, at('link'));

describe('the file of a plan', () => {
  const places = planPlaces({ dataDirectory: data, roots: [at('link')] });
  const found = (file: string) => {
    const place = places.find(file);
    return place.ok ? place.value : place.error.code;
  };

  it.each([
    ['in a root', at('project', 'a.tsx'), at('project', 'a.tsx')],
    ['in a root, by a link to it', at('link', 'a.tsx'), at('project', 'a.tsx')],
    ['that is not there yet', at('project', 'plans', 'none', 'b.tsx'), at('project', 'plans', 'none', 'b.tsx')],
    ['that comes back into a root', at('elsewhere', '..', 'project', 'a.tsx'), at('project', 'a.tsx')],
  ])('[A275] %s is allowed', (_, file, place) => expect(found(file)).toBe(place));

  it.each([
    ['beside a root', at('projects', 'a.tsx')],
    ['elsewhere', at('elsewhere', 'a.tsx')],
    ['that leaves a root', at('project', '..', 'elsewhere', 'a.tsx')],
    ['that leaves a root by a link', at('project', 'out', 'a.tsx')],
    ['that is a link which leads nowhere', at('project', 'dangling.tsx')],
    ['in the data directory', at('project', 'data', 'token')],
    ['that is a link into the data directory', at('project', 'token.tsx')],
    ['that is the data directory', data],
    ['that is no name', at('project', 'a\0.tsx')],
    ['of the system', '/etc/passwd'],
  ])('[A275] %s is refused', (_, file) => expect(found(file)).toBe('plan/place-refused'));

  it('[A276] that is refused is told of in the same words whether or not it exists', () => {
    const told = (file: string) => {
      const place = places.find(file);
      return place.ok ? 'allowed' : place.error.message.replaceAll(file, 'FILE');
    };
    expect(told(at('elsewhere', 'a.tsx'))).toBe(told(at('elsewhere', 'none.tsx')));
    expect(told(at('elsewhere', 'a.tsx'))).toContain(at('link'));
  });

  it('[A275] may be in a directory that is configured, from then on', () => {
    expect(found(at('more', 'a.tsx'))).toBe('plan/place-refused');
    writeFileSync(path.join(data, 'config.json'), JSON.stringify({ plans: { roots: [at('more')] } }));
    expect(found(at('more', 'a.tsx'))).toBe(at('more', 'a.tsx'));
    writeFileSync(path.join(data, 'config.json'), JSON.stringify({ plans: { roots: ['more'] } }));
    expect(found(at('more', 'a.tsx'))).toBe('plan/place-refused');
  });
});

describe('the project of a directory', () => {
  it('[A275] is the nearest with .signalbox, else with .git, else the directory; never all of home', () => {
    mkdirSync(at('home', 'work', '.git'), { recursive: true });
    mkdirSync(at('home', 'work', 'part', '.signalbox'), { recursive: true });
    mkdirSync(at('home', 'work', 'other', 'deep'), { recursive: true });
    mkdirSync(at('home', 'loose'), { recursive: true });
    const of = (...parts: readonly string[]) => projectOf(at('home', ...parts), at('home'));
    expect(of('work', 'part')).toBe(at('home', 'work', 'part'));
    expect(of('work', 'other', 'deep')).toBe(at('home', 'work'));
    expect(of('loose')).toBe(at('home', 'loose'));
    expect(of()).toBeUndefined();
    // Settings at home for all projects do not make the home a project.
    mkdirSync(at('home', '.signalbox'));
    expect(of('work', 'other')).toBe(at('home', 'work'));
    expect(of('loose')).toBe(at('home', 'loose'));
    expect(of()).toBeUndefined();
    expect(projectOf('/')).toBeUndefined();
  });
});
