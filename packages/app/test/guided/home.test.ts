import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { JsonObject } from '@signalbox/model';
import { defaultPreferences, modePresets } from '@signalbox/workflow';
import { describe, expect, it } from 'vitest';
import { dataDirectory, eventsOf, value, walk } from '../../../guided/test/support/guided-walk.ts';
import { guidedPreferences } from '../../src/guided/index.ts';
import { planPlaces } from '../../src/host/plan-places.ts';
import { verifyDirectory } from '../../src/verify-directory.ts';
import { openTools } from '../support/open-tools.ts';

describe('guided sessions in a data directory', () => {
  it('[A3] leaves a journal that anyone can verify', async () => {
    const directory = dataDirectory();
    const tools = openTools(directory);
    const preferences = { autonomy: 'full_auto_never_stop' } as const;
    const start = value(await tools.start({ workflowId: 'wr.research', preferences }, 'person'));
    await walk(tools, start);
    expect(verifyDirectory(path.join(directory, 'sessions', start.sessionId))).toMatchObject({
      ok: true,
      value: { ok: true, health: 'healthy', sessionId: start.sessionId },
    });
  });

  it('[G60] looks at no directory outside of those that it may look at, and says nothing of one', async () => {
    const directory = dataDirectory();
    const [project, outside] = [dataDirectory(), dataDirectory()];
    const repository = (at: string, branch: string) => {
      mkdirSync(path.join(at, '.git'), { recursive: true });
      writeFileSync(path.join(at, '.git/HEAD'), `ref: refs/heads/${branch}\n`);
      return at;
    };
    repository(outside, 'secret');
    const inside = (name: string) => path.join(project, name);
    repository(inside('own'), 'main');
    for (const name of ['named', 'linked', 'worktree']) mkdirSync(inside(name));
    writeFileSync(inside('named/.git'), `gitdir: ${outside}/.git\n`);
    symlinkSync(path.join(outside, '.git'), inside('linked/.git'));
    symlinkSync(outside, inside('link'));
    const worktree = path.join(outside, '.git/worktrees/one');
    mkdirSync(worktree, { recursive: true });
    writeFileSync(path.join(worktree, 'HEAD'), 'ref: refs/heads/mine\n');
    writeFileSync(path.join(worktree, 'gitdir'), `${inside('worktree/.git')}\n`);
    writeFileSync(inside('worktree/.git'), `gitdir: ${worktree}\n`);

    const places = planPlaces({ dataDirectory: directory, roots: [project] });
    const tools = openTools(directory, { mayLook: named => places.directory(named).ok });
    const start = (workspacePath: string) => tools.start({ workflowId: 'wr.bug-investigation', workspacePath });
    const refused = await start(path.join(outside, 'nothing'));
    expect(refused).toMatchObject({ ok: false, error: { details: { field: 'workspacePath' } } });
    for (const place of [outside, path.join(outside, '.git/HEAD'), directory, inside('link'), inside('link/nothing')])
      expect(await start(place)).toEqual(refused);
    const branches: Record<string, unknown> = {};
    for (const name of ['own', 'named', 'linked', 'worktree']) {
      const { sessionId } = value(await start(inside(name)));
      const observed = eventsOf(directory, sessionId).flatMap(event =>
        event.kind === 'observation_recorded' && event.data.key === 'git_branch' ? [event.data.value.value] : [],
      );
      branches[name] = observed[0];
    }
    expect(branches).toEqual({ own: 'main', named: undefined, linked: undefined, worktree: 'mine' });
    const why = async (workspacePath: string) =>
      value(await tools.resume({ workspacePath })).candidates.map(({ whyMatched }) => whyMatched[0]);
    expect(await why(outside)).toEqual(await why(path.join(outside, 'nothing')));
  });

  it('[G48] go as far alone as the person configured, and no further where that cannot be understood', () => {
    const directory = dataDirectory();
    const configured = (workflows: JsonObject) => {
      writeFileSync(path.join(directory, 'config.json'), JSON.stringify({ workflows }));
      return guidedPreferences(directory);
    };
    const preferences = { autonomy: 'full_auto_never_stop', riskPolicy: 'balanced' } as const;
    expect(guidedPreferences(directory)).toEqual(defaultPreferences);
    expect(configured(preferences)).toEqual(preferences);
    expect(configured({ autonomy: 'full_auto_never_stop' })).toEqual(modePresets.full_auto_never_stop);
    expect(configured({ ...preferences, more: 1 })).toEqual(defaultPreferences);
    expect(configured({ autonomy: 'always' })).toEqual(defaultPreferences);
  });
});
