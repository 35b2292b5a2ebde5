import type { RunRecord } from '@signalbox/runs';

/** The folder that `signalbox do` writes the plan of its run into, below the system's temporary directory, and the plan's file. */
export const DO_FOLDER = 'signalbox-do-';
export const DO_FILE = 'do.tsx';

/** Whether a run's plan was written by `signalbox do`, and by no person who could correct it. */
export function isDoRun({ source }: Pick<RunRecord, 'source'>): boolean {
  const [file, folder] = (source?.entry ?? '').split(/[\\/]/).reverse();
  return file === DO_FILE && folder?.startsWith(DO_FOLDER) === true;
}
