import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ErrorEnvelope } from '@signalbox/app';
import { findSession } from '@signalbox/app/guided';
import { askedDataDirectory } from '../data-directory-option.ts';
import { isAmbiguous } from './guided-target.ts';

/** The journal's directory: the given path if it exists, else the journal of the session with that id. */
export function journalNamed(given: string, dataDir: string | undefined): string | ErrorEnvelope {
  if (existsSync(given)) return given;
  const dataDirectory = askedDataDirectory(dataDir);
  const session = findSession({ dataDirectory }, given);
  if (session.ok) return path.join(dataDirectory, 'sessions', session.value);
  return isAmbiguous(session.error) ? session.error : given;
}
