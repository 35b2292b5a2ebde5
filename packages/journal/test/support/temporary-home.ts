import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { childScript } from '../../../../test/child-script.ts';

/** The script that tests start to be killed. */
export const CHILD = childScript(import.meta.dirname, 'child.ts');

/** A directory of its own for a test, gone when the test is over. */
export function temporaryHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), 'signalbox-journal-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  return home;
}
