import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultFleetConfig } from '@signalbox/fleet';
import { expect, it } from 'vitest';
import { readFleetConfig } from '../../src/fleet/fleet-settings.ts';
import { projectIdOf } from '../../src/fleet/project-id.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { fleetStage } from './fleet-stage.ts';

it('[A972] takes the id of a project from its file, and otherwise derives it from where the project is', () => {
  const [one, other] = ['one', 'other'].map(name => path.join(temporaryFolder(), name)) as [string, string];
  for (const directory of [one, other]) mkdirSync(path.join(directory, '.signalbox'), { recursive: true });
  const derived = projectIdOf(one);
  expect(projectIdOf(one)).toBe(derived);
  expect(projectIdOf(other)).not.toBe(derived);
  const id = '00000000-0000-7000-8000-0000000000aa';
  writeFileSync(path.join(one, '.signalbox', 'project.json'), JSON.stringify({ id }));
  expect(projectIdOf(one)).toBe(id);
  writeFileSync(path.join(one, '.signalbox', 'project.json'), '{"id": "mine"}');
  expect(projectIdOf(one)).toBe(derived);
});

it('[A975] reads `fleet` of the configuration, and says what is wrong with it', () => {
  const directory = temporaryFolder();
  const config = (part: object) => writeFileSync(path.join(directory, 'config.json'), JSON.stringify({ fleet: part }));
  expect(readFleetConfig(directory)).toEqual({ ok: true, value: defaultFleetConfig });
  const crashRecovery = { autoRestart: true, preferResumeOverRestart: false };
  config({
    project: { title: 'Ours' },
    ticks: { intervalMs: 100 },
    trust: 'permissive',
    calibrationMode: true,
    crashRecovery,
  });
  expect(readFleetConfig(directory)).toMatchObject({
    ok: true,
    value: {
      project: { title: 'Ours', goals: [] },
      ticks: { intervalMs: 100, mode: 'wall_clock' },
      trust: { name: 'permissive', config: { initialScore: 70, calibrationMode: true } },
      crashRecovery,
    },
  });
  config({ ticks: { intervalMs: 0 } });
  expect(readFleetConfig(directory)).toMatchObject({ ok: false });
});

it('[A975] restarts crashed agents by itself if the configuration says so, and not before the cooldown', async () => {
  const crashRecovery = {
    autoRestart: true,
    autoRestartConditions: { minTrustScore: 10, maxConsecutiveCrashes: 3, cooldownMs: 5_000 },
    preferResumeOverRestart: true,
  };
  const stage = await fleetStage({ config: { crashRecovery }, answers: false });
  await stage.pass(1_000);
  await stage.restart();
  const statuses = () => stage.desk.agents().map(({ status }) => status);
  expect(statuses()).toEqual(['error', 'error', 'error']);
  expect(stage.desk.queue().filter(one => one.from === 'agent' && one.decision.subject.subtype === 'option')).toEqual(
    [],
  );
  await stage.pass(7_000);
  expect(statuses()).toEqual(['running', 'running', 'running']);
});
