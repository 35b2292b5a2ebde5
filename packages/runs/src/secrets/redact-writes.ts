import { type Hasher, type SecretFilter, utf8Length } from '@signalbox/model';
import type { ArtifactRecord } from '../artifacts/artifact-record.ts';
import type { ArchiveRow } from '../bundles/archive-row.ts';
import type { Commit, RunWrite, WriteSet } from '../commit.ts';

/** Commits nothing that the filter takes out. Everything that goes into a row or an event goes through here. */
export function redactingCommit(commit: Commit, filter: Pick<SecretFilter, 'data'>, hasher: Hasher): Commit {
  return { commit: (writes, guard) => commit.commit(redactWrites(writes, filter, hasher), guard) };
}

export function redactWrites(writes: WriteSet, { data }: Pick<SecretFilter, 'data'>, hasher: Hasher): WriteSet {
  const kept = data(writes);
  if (kept === writes) return writes;
  const { run, artifacts } = writes;
  return {
    ...kept,
    ...(run === undefined || kept.run === undefined ? {} : { run: withPlaces(kept.run, run) }),
    ...(artifacts === undefined
      ? {}
      : { artifacts: kept.artifacts?.map((artifact, at) => withDigest(artifact, artifacts[at], hasher)) }),
  };
}

/** A row that was made elsewhere. Whoever chains its event does so afterwards. */
export function redactRow(row: ArchiveRow, { data }: Pick<SecretFilter, 'data'>, hasher: Hasher): ArchiveRow {
  const kept = data(row);
  if (kept === row) return row;
  if (kept.part === 'record' && row.part === 'record') return { ...kept, row: { ...kept.row, ...placesOf(row.row) } };
  if (kept.part === 'artifacts' && row.part === 'artifacts')
    return { ...kept, row: withDigest(kept.row, row.row, hasher) };
  return kept;
}

/** Directories and files must be found again: their names are not what hides a secret. */
function withPlaces(kept: RunWrite, given: RunWrite): RunWrite {
  if (kept.kind === 'create' && given.kind === 'create')
    return { ...kept, run: { ...kept.run, ...placesOf(given.run) } };
  if (kept.kind === 'change' && given.kind === 'change')
    return { ...kept, change: { ...kept.change, ...placesOf(given.change) } };
  return kept;
}

type Placed = Partial<Pick<Extract<RunWrite, { kind: 'create' }>['run'], 'workingDirectory' | 'workspace' | 'source'>>;

function placesOf({ workingDirectory, workspace, source }: Placed): Placed {
  return {
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(source === undefined ? {} : { source }),
  };
}

/** The digest of an artifact is that of the content that is kept. */
function withDigest(kept: ArtifactRecord, given: ArtifactRecord | undefined, hasher: Hasher): ArtifactRecord {
  const { content } = kept;
  if (content === undefined || content === given?.content) return kept;
  return { ...kept, digest: hasher(content), bytes: utf8Length(content) };
}
