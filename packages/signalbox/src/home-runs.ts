import { type AllRunsReads, readHome } from '@signalbox/app/all-runs';
import { openGuidedSessions } from '@signalbox/app/guided';
import { type Reader, thisMachine } from '@signalbox/app/host';
import { workflowPlaces } from './workflow/workflow-places.ts';

/** Every run of a data directory, whoever owns it; no reader where there is no database. */
export function homeRuns(dataDirectory: string, reader: Reader | undefined): AllRunsReads {
  const sessions = openGuidedSessions({ dataDirectory, directories: workflowPlaces(), machine: thisMachine() });
  return readHome({ dataDirectory, reader, guided: sessions.runs, env: process.env });
}
