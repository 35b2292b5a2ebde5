import { readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { verifyBundle } from '../src/bundles/verify-bundle.ts';
import { thisMachine } from '../src/machine.ts';
import { verifyBundleReplay } from '../src/replay/verify-replay.ts';

const folder = fileURLToPath(new URL('../../../spec/histories/', import.meta.url));
const bundles = readdirSync(folder).filter(file => file.endsWith('.bundle'));

/** Advice for a history that does not replay. */
const ADVICE = `
The engine makes other frames of this recorded run than it made when the run was recorded. Runs that people started before would
come out otherwise too, and could not be verified any more.
- If that is not meant: look at the rows above; they name what differs, and the line of the plan that it comes from.
- If it is meant: make the history anew (node scripts/make-histories.ts NAME), and say in the commit what older runs lose.`;

describe('golden histories', () => {
  it('are there for everything that plans are made of', () => {
    expect(bundles).toEqual(
      expect.arrayContaining(
        [
          'agents',
          'effects',
          'failures',
          'keep',
          'people',
          'recover',
          'signals',
          'structure',
          'sub-plans',
          'timers',
        ].map(name => `${name}.bundle`),
      ),
    );
  });

  it.each(bundles)('[A64] %s comes out again, frame by frame', async name => {
    const file = path.join(folder, name);
    expect(await verifyBundle(file)).toMatchObject({ ok: true, value: { ok: true } });
    const verdict = await verifyBundleReplay(file, { machine: thisMachine(), trust: true });
    if (!verdict.ok) throw new Error(verdict.error.message);
    const faulty = verdict.value.runs.filter(run => run.difference !== undefined || run.verified !== run.frames);
    expect(faulty, `${name}: ${JSON.stringify(faulty, null, 2)}\n${ADVICE}`).toEqual([]);
  });
});
