import path from 'node:path';
import { type Clock, type ErrorEnvelope, type ImportReport, ok, type Result, type RunId } from '@signalbox/model';
import type { Commit, RunReader } from '@signalbox/runs';
import { createTrust } from '../host/foreign-plan.ts';
import type { PersonsWord, PlanPlaces } from '../host/plan-places.ts';
import { openArchive } from '../repair/lost-database.ts';
import { drainUnowned } from '../run-journal/drain-unowned.ts';
import { openSecrets } from '../secrets/open-secrets.ts';
import { exportRun, type RunExport } from './export-run.ts';
import { importRun, type RunImportOptions } from './import-run.ts';
import { restImported } from './rest-imported.ts';

/** Bundles of the runs of a data directory that this process owns. */
export interface RunBundles {
  export(run: RunId, file: string): Promise<Result<RunExport, ErrorEnvelope>>;
  import(request: ImportRequest, by: string): Promise<Result<ImportReport, ErrorEnvelope>>;
}

export interface ImportRequest extends PersonsWord {
  readonly file: string;
  /** The new working directory of the run's agents. */
  readonly directory?: string | undefined;
  /** Trusts its plan; set by a person at the command line. */
  readonly trust?: boolean | undefined;
}

export interface ExportFacts {
  readonly clock: Clock;
  readonly appVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function runBundles(
  ports: Pick<RunImportOptions, 'dataDirectory' | 'machine'> &
    ExportFacts & {
      readonly store: RunImportOptions['store'] & Commit & RunReader;
      readonly places: PlanPlaces;
      /** Brings the journal of a run up to date with its log. */
      readonly drain: (run: RunId) => Promise<unknown>;
    },
): RunBundles {
  return {
    export: (run, file) => exportFrom(ports.dataDirectory, run, file, ports, ports.drain),
    async import({ file, directory, trust, ...word }, by) {
      const found = word.anyFile === true ? ok(path.resolve(file)) : ports.places.find(file, 'bundle');
      if (!found.ok) return found;
      const worksIn = directory === undefined ? ok(undefined) : ports.places.directory(directory, word);
      if (!worksIn.ok) return worksIn;
      const workingDirectory = worksIn.value;
      const { filter: secrets } = openSecrets({ dataDirectory: ports.dataDirectory, env: ports.env });
      const imported = await importRun({ ...ports, by, workingDirectory, secrets }, found.value);
      if (!imported.ok) return imported;
      await restImported(ports.store, ports.machine, imported.value.run);
      const record = await ports.store.run(imported.value.run);
      if (trust !== true || record === undefined) return imported;
      const trusted = await createTrust(ports.store, ports.machine)(record, true, by);
      return trusted.ok ? imported : trusted;
    },
  };
}

/** Writes a run of a data directory into a file, whoever owns the directory. Its journal is brought up to date first. */
export async function exportFrom(
  dataDirectory: string,
  run: RunId,
  file: string,
  { clock, appVersion, env }: ExportFacts,
  drain: (run: RunId) => Promise<unknown> = of => drainUnowned(dataDirectory, of),
): Promise<Result<RunExport, ErrorEnvelope>> {
  // A damaged journal must not prevent an export.
  await drain(run);
  const archive = openArchive({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!archive.ok) return archive;
  // Recognises the secrets of every process that wrote here, not only those of this one.
  const { filter: secrets } = openSecrets({ dataDirectory, env, readOnly: true });
  try {
    return await exportRun({ archive: archive.value, clock, appVersion, secrets }, run, path.resolve(file));
  } finally {
    archive.value.close();
  }
}
