import { asJson, canonicalJson, type Digest, type Hasher, type Json, type SecretFilter } from '@signalbox/model';
import { INLINE_MAX_BYTES } from '../artifacts/artifact-record.ts';
import type { CommitView, IntervalRow, TransitionRow } from '../commit-plan.ts';
import type { Change, Maybe } from '../frames/change.ts';
import { changeBetween } from '../frames/value-change.ts';
import { type BodyRewrite, draftOf } from '../log/body-rewrite.ts';
import type { HeldValue, RecordBody, RecordDraft } from '../log/record.ts';
import { neededBlobs } from '../log/record-blobs.ts';
import { redactBody } from './redact-writes.ts';

export interface RedactLogPorts {
  /** Recognizes the secret in every encoding. */
  readonly filter: Pick<SecretFilter, 'text' | 'data' | 'has'>;
  readonly hasher: Hasher;
  readonly salt: () => string;
  readonly textOf: (blob: Digest) => string;
  readonly putText: (text: string) => Digest;
  /** Stores a copy of a content without the secret, if it contains it. */
  readonly redactContent: (blob: Digest) => { readonly blob: Digest; readonly bytes: number } | undefined;
}

/**
 * The remaining bodies of a run after a secret is redacted (T7). Request the bodies in order, each once.
 *
 * 1. A patch refers to positions in a text, so values are redacted whole and the change is computed again, from the redacted previous
 *    value.
 * 2. A content in a blob becomes another blob, and every mention is renamed. So are the digests derived from changed data: those of
 *    artifacts, of proposals, and of frames, which can no longer be verified.
 * 3. The working directory and the paths of the plan's files must stay findable, so they are not redacted.
 */
export function redactLog(ports: RedactLogPorts): BodyRewrite {
  const { filter, hasher } = ports;
  /** Values that changed, by space and key. */
  const changed = new Set<string>();
  /** New digests by old ones, as hex digits. */
  const renamed = new Map<string, string>();
  /** Sizes of replaced contents, by new name. */
  const sizes = new Map<string, number>();
  const rename = (was: Digest, now: Digest): Digest => {
    renamed.set(hexOf(was), hexOf(now));
    return now;
  };

  /** The change that results in a value without the secret. */
  function redactChange(place: string, change: Change, value: Maybe, before: () => Maybe): Change {
    if (change.kind === 'gone' || value === undefined) {
      changed.delete(place);
      return change;
    }
    const left = filter.data(value) as Json;
    const wasChanged = changed.has(place);
    if (left === value) changed.delete(place);
    else changed.add(place);
    if (change.kind === 'set') return left === value ? change : { kind: 'set', value: left };
    if (left === value && !wasChanged && filter.data(change) === change) return change;
    return changeBetween(before(), left) ?? { kind: 'set', value: left };
  }

  function intervalsOf(body: RecordBody, rows: readonly IntervalRow[], view: CommitView): Partial<RecordDraft> {
    if (body.intervals === undefined) return {};
    return {
      intervals: body.intervals.map((write, index) => {
        const { space } = write;
        const key = filter.text(write.key);
        const value = rows[index]?.value;
        const change = redactChange(`${space} ${key}`, write.change, value, () => view.last(space, key)?.value());
        return key === write.key && change === write.change ? write : { ...write, key, change };
      }),
    };
  }

  function transitionsOf(body: RecordBody, rows: readonly TransitionRow[], view: CommitView): Partial<RecordDraft> {
    if (body.transitions === undefined) return {};
    const values = new Map<string, Maybe>();
    return {
      transitions: body.transitions.map((write, index) => {
        const { change: _, ...rest } = write;
        const left = filter.data(rest);
        const { key } = left;
        const value = rows[index]?.value;
        const before = () => (values.has(key) ? values.get(key) : view.lastTransition(key)?.value);
        const change = redactChange(`transition ${key}`, write.change, value, before);
        values.set(key, filter.data(value));
        return left === rest && change === write.change ? write : { ...left, change };
      }),
    };
  }

  function heldOf(held: HeldValue): HeldValue {
    const value = 'json' in held ? held.json : (JSON.parse(ports.textOf(held.blob)) as Json);
    const left = filter.data(value) as Json;
    if (left === value) return held;
    const text = JSON.stringify(left);
    if (text.length * 3 <= INLINE_MAX_BYTES) return { json: left };
    return { blob: ports.putText(text), length: text.length };
  }

  function beginningOf({ begins }: RecordBody): Partial<RecordDraft> {
    if (begins === undefined) return {};
    return {
      begins: {
        intervals: begins.intervals.map(({ space, key, value }) => {
          const left = { space, key: filter.text(key), value: heldOf(value) };
          if (left.value !== value) changed.add(`${space} ${left.key}`);
          return left;
        }),
        tasks: begins.tasks.map(({ task, result }) => ({
          task: filter.data(task),
          ...(result !== undefined && { result: heldOf(result) }),
        })),
      },
    };
  }

  /** Replaces referenced contents that hold the secret. */
  function renameContents(names: readonly Digest[]): void {
    for (const name of names) {
      const left = renamed.has(hexOf(name)) ? undefined : ports.redactContent(name);
      if (left === undefined) continue;
      rename(name, left.blob);
      sizes.set(hexOf(left.blob), left.bytes);
    }
  }

  function artifactsOf({ artifacts }: RecordDraft, given: RecordBody): Partial<RecordDraft> {
    if (artifacts === undefined) return {};
    return {
      artifacts: artifacts.map((artifact, index) => {
        const was = given.artifacts?.[index]?.digest;
        if (was !== undefined && was !== artifact.digest) rename(was, artifact.digest);
        const bytes = sizes.get(renamed.get(hexOf(artifact.digest)) ?? '');
        return bytes === undefined ? artifact : { ...artifact, bytes };
      }),
    };
  }

  function decisionsOf({ decisions }: RecordDraft, given: RecordBody): Partial<RecordDraft> {
    if (decisions === undefined) return {};
    return {
      decisions: decisions.map((decision, index) => {
        const was = given.decisions?.[index];
        if (was === undefined || was.proposal === decision.proposal) return decision;
        const proposalHash = rename(was.proposalHash, hasher(canonicalJson(decision.proposal)));
        return { ...decision, proposalHash };
      }),
    };
  }

  function frameOf({ frame }: RecordDraft): Partial<RecordDraft> {
    const isChanged = [...changed].some(place => /^(node|status|state) /.test(place));
    if (frame === undefined || !isChanged) return {};
    return { frame: { ...frame, digest: rename(frame.digest, hasher(ports.salt())), verifiable: false } };
  }

  return ({ record, outcome }, view) => {
    const { body } = record;
    renameContents(neededBlobs({ ...record, header: { ...record.header, blobs: [] } }));
    const { intervals, transitions, begins, ...rest } = draftOf(body);
    const left = redactBody({ salt: '', ...rest }, filter, hasher);
    const { salt: _, ...redacted } = left;
    const whole: RecordDraft = {
      ...redacted,
      ...beginningOf(body),
      ...intervalsOf(body, outcome.intervals, view),
      ...transitionsOf(body, outcome.transitions, view),
      ...artifactsOf(redacted, body),
      ...decisionsOf(redacted, body),
    };
    const draft = withNames({ ...whole, ...frameOf(whole) }, renamed);
    if (canonicalJson(asJson(draft)) === canonicalJson(asJson(draftOf(body)))) return undefined;
    const { away, ...others } = draft;
    return { away: { ...away }, ...others };
  };
}

/** The draft with renamed digests. */
function withNames(draft: RecordDraft, renamed: ReadonlyMap<string, string>): RecordDraft {
  if (renamed.size === 0) return draft;
  const named = (value: Json): Json => {
    if (typeof value === 'string') return value.replace(/[0-9a-f]{64}/g, hex => renamed.get(hex) ?? hex);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map(named);
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, named(member as Json)]));
  };
  const { taken, ...rest } = draft;
  return { ...(named(asJson(rest)) as RecordDraft), ...(taken && { taken }) };
}

function hexOf(digest: Digest): string {
  return digest.slice('sha256:'.length);
}
