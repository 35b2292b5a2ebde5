import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Program } from '@signalbox/app';
import { afterAll } from 'vitest';
import { childScript } from '../../../test/child-script.ts';

/** A folder for the tests of one file, gone after them. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'app-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export const childProgram: Program = [process.execPath, childScript(import.meta.dirname, 'program-child.ts')];
