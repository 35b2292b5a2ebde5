import { cpSync } from 'node:fs';
import path from 'node:path';
import { openSessionFiles } from '@signalbox/guided';
import { type DefectCode, defectMeanings, hostDisk, nodeHasher, verifyJournal } from '@signalbox/journal';
import { seededRng } from '@signalbox/testkit';
import {
  type Autonomy,
  type BlockerCode,
  blockerCode,
  reasonCodeOf,
  reasonCodes,
  sessionEventSchema,
} from '@signalbox/workflow';
import { afterAll, describe, expect, it } from 'vitest';
import { filledIn } from '../../../guided/test/support/agent-calls.ts';
import { dataDirectory, eventsOf, value } from '../../../guided/test/support/guided-walk.ts';
import { guidedPorts } from '../../src/guided/guided-home.ts';
import { defects } from './defect-table.ts';
import { begun, errors, forgetTemplate, guidedCodes } from './error-table.ts';
import { reasons } from './reason-table.ts';

afterAll(forgetTemplate);

describe('[W172] every error code of the guided surface', () => {
  it('has a way to come about, and there is none beside them', () => {
    expect(Object.keys(errors).sort()).toEqual([...guidedCodes].sort());
  });

  it.each(Object.entries(errors))('%s is answered, with what to do next', async (code, produce) => {
    const error = await produce();
    expect(error).toMatchObject({
      code,
      message: expect.stringMatching(/\S/),
      suggestion: expect.stringMatching(/\S/),
    });
    expect(error.retry.kind).toBe(/LOCKED$/.test(code) ? 'retryable_after_ms' : error.retry.kind);
  });
});

describe('[W172] every reason of the one model', () => {
  const blockers = new Set<BlockerCode>();

  it('has a way to come about, and there is none beside them', () => {
    expect(Object.keys(reasons).sort()).toEqual([...reasonCodes].sort());
  });

  it.each(Object.entries(reasons))(
    '%s blocks in a mode that stops, and is a gap in every mode',
    async (code, produce) => {
      for (const autonomy of ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const) {
        const events = await produce(autonomy);
        const gaps = events.flatMap(event => (event.kind === 'gap_recorded' ? [event.data] : []));
        expect(gaps).toContainEqual(
          expect.objectContaining({ severity: 'critical', resolution: { kind: 'unresolved' } }),
        );
        expect(gaps.map(({ reason }) => reasonCodeOf(reason))).toContain(code);
        const last = events.findLast(event => event.kind === 'advance_recorded');
        const outcome = last?.kind === 'advance_recorded' ? last.data.outcome : undefined;
        expect([autonomy, outcome?.kind]).toEqual([autonomy, stops(code, autonomy) ? 'blocked' : 'advanced']);
        if (outcome?.kind === 'blocked') for (const { code } of outcome.blockers.blockers) blockers.add(code);
      }
    },
  );

  it('has its blocker code, and all of them were met', () => {
    expect([...blockers].sort()).toEqual(blockerCode.options.toSorted());
  });
});

/** No mode continues a corrupt session. */
function stops(code: string, autonomy: Autonomy): boolean {
  return autonomy !== 'full_auto_never_stop' || code === 'unexpected:storage_corruption_detected';
}

describe('[W172] every reason why a session is not healthy', () => {
  it('has a way to come about, and there is none beside them', () => {
    expect(Object.keys(defects).sort()).toEqual(Object.keys(defectMeanings).sort());
    expect(new Set(Object.values(defects).map(({ health }) => health))).toEqual(
      new Set(['healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version']),
    );
  });

  it('is found in the files, mapped to its health, and nothing is gone on with', async () => {
    const { directory, tools, start } = await begun();
    const first = openSessionFiles({ dataDirectory: directory, ports: guidedPorts, rng: seededRng(1) }).reader;
    const heads = { first: value(first.view(start.sessionId)).head };
    value(await tools.continue(filledIn(start)));
    expect(eventsOf(directory, start.sessionId).length).toBeGreaterThan(5);
    const found: Partial<Record<DefectCode, string>> = {};
    for (const [code, { health, make, expectHead, isOfReaders }] of Object.entries(defects)) {
      const home = dataDirectory();
      cpSync(directory, home, { recursive: true });
      const { reader } = openSessionFiles({ dataDirectory: home, ports: guidedPorts, rng: seededRng(1) });
      if (isOfReaders) value(reader.view(start.sessionId));
      const folder = { home, directory: path.join(home, 'sessions', start.sessionId) };
      make(folder);
      if (isOfReaders) {
        const read = reader.view(start.sessionId);
        found[code as DefectCode] =
          `${health} ${read.ok ? '' : (read.error.details as { defect: { code: string } }).defect.code}`;
        continue;
      }
      const report = verifyJournal({
        disk: hostDisk,
        hasher: nodeHasher,
        schema: sessionEventSchema,
        directory: folder.directory,
        snapshots: path.join(home, 'snapshots'),
        ...(expectHead && { expectHead: expectHead(heads) }),
      });
      found[code as DefectCode] = `${report?.health} ${report?.defect?.code}`;
    }
    expect(found).toEqual(
      Object.fromEntries(Object.entries(defects).map(([code, { health }]) => [code, `${health} ${code}`])),
    );
  });
});
