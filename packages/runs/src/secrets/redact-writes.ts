import { type Hasher, isCertainlyClean, type SecretFilter, utf8Length } from '@signalbox/model';
import type { ArtifactRecord } from '../artifacts/artifact-record.ts';
import type { Commit, RunWrite, WriteSet } from '../commit.ts';
import type { RecordBody } from '../log/record.ts';

type Filter = Pick<SecretFilter, 'data' | 'has'>;

/** Redacts every row and event before it is committed. */
export function redactingCommit(commit: Commit, filter: Filter, hasher: Hasher): Commit {
  return { commit: (writes, guard) => commit.commit(redactWrites(writes, filter, hasher), guard) };
}

export function redactWrites(writes: WriteSet, filter: Filter, hasher: Hasher): WriteSet {
  return redacted(writes, filter, hasher);
}

/** Redacts the body of a foreign record, before it is sealed. */
export function redactBody(body: RecordBody, filter: Filter, hasher: Hasher): RecordBody {
  return redacted(body, filter, hasher);
}

interface Written {
  readonly run?: RunWrite | RecordBody['run'];
  readonly artifacts?: readonly ArtifactRecord[] | undefined;
}

function redacted<Writes extends Written>(writes: Writes, filter: Filter, hasher: Hasher): Writes {
  if (isCertainlyClean(filter, writes)) return writes;
  const kept = filter.data(writes);
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

/** Directories and files must stay findable, so their paths are not redacted. */
function withPlaces<Write extends NonNullable<Written['run']>>(kept: Write, given: Write): Write {
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

/** An artifact's digest is that of the stored content. */
function withDigest(kept: ArtifactRecord, given: ArtifactRecord | undefined, hasher: Hasher): ArtifactRecord {
  const { content } = kept;
  if (content === undefined || content === given?.content) return kept;
  return { ...kept, digest: hasher(content), bytes: utf8Length(content) };
}
