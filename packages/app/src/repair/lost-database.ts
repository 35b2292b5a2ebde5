import path from 'node:path';
import { type ErrorEnvelope, failure, type Result } from '@signalbox/model';
import { openArchive as openStoredArchive, openReader as openStoredReader } from '@signalbox/store';
import * as z from 'zod';
import { projectsWithJournal, runsWithJournal } from './run-journals.ts';

/** Opens a data directory's database for reading. One that is gone while its journals are there is said to be lost. */
export function openReader(request: Parameters<typeof openStoredReader>[0]): ReturnType<typeof openStoredReader> {
  return orLost(request.path, openStoredReader(request));
}

/** The same, with what checks and exports need. */
export function openArchive(request: Parameters<typeof openStoredArchive>[0]): ReturnType<typeof openStoredArchive> {
  return orLost(request.path, openStoredArchive(request));
}

function orLost<T, E extends ErrorEnvelope>(
  file: string,
  opened: Result<T, E>,
): Result<T, E | ErrorEnvelope<'store/missing'>> {
  if (opened.ok || opened.error.code !== 'store/missing') return opened;
  const lost = lostDatabase(file);
  return lost === undefined ? opened : { ok: false, error: lost };
}

/** Whether an error says that a database is gone, rather than that there never was one. */
export function isLostDatabase({ code, details }: ErrorEnvelope): boolean {
  return code === 'store/missing' && lostDetails.safeParse(details).success;
}

const lostDetails = z.object({ file: z.string(), runs: z.int() });

/** Undefined if nothing was ever run beside that file. */
export function lostDatabase(file: string): ErrorEnvelope<'store/missing'> | undefined {
  const directory = path.dirname(file);
  const runs = runsWithJournal(directory).length;
  if (runs + projectsWithJournal(directory).length === 0) return undefined;
  const held = `${runs} ${runs === 1 ? 'run' : 'runs'}`;
  return failure('store/missing', {
    message: `The database is lost: ${file} does not exist or is empty, but there are journals of ${held} beside it.`,
    suggestion: 'Stop Signalbox and run "signalbox repair": it rebuilds the database from the journals.',
    details: { file, runs },
  });
}
