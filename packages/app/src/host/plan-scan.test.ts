import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { planPlaces } from './plan-places.ts';

it('[A1094] the plans of allowed directories are found, and none of others or of the data directory', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'scan-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text = 'export default definePlan({})') => {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  };
  const wanted = [write('project/.signalbox/plans/release.tsx'), write('project/deep/er/plan.tsx')];
  write('project/component.tsx', 'export const Button = () => null');
  write('project/node_modules/signalbox/plan.tsx');
  write('project/.cache/plan.tsx');
  write('project/plan.ts');
  write('project/data/plan.tsx');
  write('elsewhere/plan.tsx');
  const places = planPlaces({
    dataDirectory: path.join(folder, 'project/data'),
    roots: [path.join(folder, 'project')],
  });
  expect(places.plans()).toEqual({ files: wanted, isMore: false });
  for (let n = 0; n < 400; n++) write(`project/many/${n}.tsx`);
  const many = places.plans();
  expect(many.isMore).toBe(true);
  // The plan of the data directory may be among those that were looked at.
  expect([299, 300]).toContain(many.files.length);
});
