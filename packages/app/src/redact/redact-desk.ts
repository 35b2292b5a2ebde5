import {
  type ErrorEnvelope,
  type EventId,
  err,
  failure,
  knownSecretOf,
  ok,
  type RedactionReport,
  type Result,
  type RunId,
  timestampOf,
} from '@signalbox/model';
import type { RunRecord } from '@signalbox/runs';
import { usageError } from '../command-error.ts';
import { unknownRun } from '../host/run-failures.ts';
import { journalDisagreement, readJournal } from '../run-journal/journal-agreement.ts';
import type { Secrets } from '../secrets/open-secrets.ts';
import { formsOf } from '../secrets/secret-forms.ts';
import { whyUnusable } from '../secrets/secret-variables.ts';
import { finishRedaction, leftIn, OUTSIDE, type RedactionPorts, secretOf } from './finish-redaction.ts';
import { onlyThis } from './secret-files.ts';
import { type RedactionNote, writeNote } from './taking-note.ts';

/** Removes later-found secrets from runs, in the process that owns the data directory. */
export interface RedactDesk {
  /** One redaction at a time. Resolves when no byte of the value is left within its reach. */
  redact(run: RunId, request: RedactionRequest, by: string): Promise<Result<RedactionReport, ErrorEnvelope>>;
}

export interface RedactionRequest {
  readonly value: string;
  readonly name?: string | undefined;
  readonly why?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

export interface RedactDeskPorts extends RedactionPorts {
  readonly secrets: Secrets;
  /** Runs that are currently driven. */
  readonly driven: () => readonly RunId[];
  /** Runs `work` while nothing else is being removed. */
  readonly alone: <T>(work: () => Promise<T>) => Promise<T>;
}

export function createRedactDesk(ports: RedactDeskPorts): RedactDesk {
  const { store, dataDirectory, machine, secrets, driven, alone } = ports;

  async function redact(
    run: RunId,
    request: RedactionRequest,
    by: string,
  ): Promise<Result<RedactionReport, ErrorEnvelope>> {
    const { value, name = 'secret', why = 'a secret was found in it', dryRun = false } = request;
    const fault = whyUnusable(value);
    if (fault !== undefined)
      return err(usageError(`The value cannot be redacted: ${fault}.`, 'Give the whole secret.'));
    const record = await store.run(run);
    if (record === undefined) return err(unknownRun(run));
    const runs = await familyOf(record);
    const known = formsOf(value).map(form => knownSecretOf(name, form, secrets.mac));
    const filter = onlyThis(secretOf(ports, { known }));
    if (filter.has(name)) return err(usageError('The name contains the value.', 'Choose another one: --name NAME.'));
    for (const one of runs) {
      const wrong = await journalDisagreement(readJournal(dataDirectory, one), store, one);
      if (wrong !== undefined) return err(disagrees(one, wrong));
    }
    // From here to the last run's transaction nothing else gets its turn.
    const busy = runs.find(one => driven().includes(one));
    if (busy !== undefined) return err(underWay(busy));
    const note: RedactionNote = {
      v: 1,
      kind: 'redaction',
      runs,
      name,
      known,
      at: timestampOf(machine.clock),
      by,
      why: filter.text(why),
    };
    if (dryRun) return foreseen(note);
    secrets.learn(known);
    writeNote(dataDirectory, note);
    return finishRedaction(ports, note);
  }

  /** The run, its sub-plans and forks, and their descendants. */
  async function familyOf(root: RunRecord): Promise<readonly RunId[]> {
    const found = [root.id];
    for (const run of found) for (const { id } of await store.children(run)) found.push(id);
    return found;
  }

  async function foreseen(note: RedactionNote): Promise<Result<RedactionReport, ErrorEnvelope>> {
    const secret = secretOf(ports, note);
    const filter = onlyThis(secret);
    const { name, at, by, why } = note;
    const runs: RedactionReport['runs'][number][] = [];
    for (const run of note.runs) {
      const eventId = machine.ids.mint<EventId>();
      const done = store.takenAway.redact(run, { at, by, why, name, filter, eventId, dryRun: true });
      if (!done.ok) return done;
      runs.push({ run, records: done.value.records, tokens: done.value.hadDeltas === true });
    }
    const found = await leftIn(ports, secret);
    const changes = new Set<string>(note.runs.map(run => `run ${run}`));
    const isOwn = (where: string) =>
      note.runs.some(run => where.startsWith(`runs/${run}/`)) || /^(cache|logs)\//.test(where);
    const left = found.filter(({ where }) => !changes.has(where) && !isOwn(where) && !where.startsWith('blobs/'));
    const logs = found.filter(({ where }) => /(^|\/)logs\//.test(where)).length;
    const blobs = found.filter(({ where }) => where.startsWith('blobs/')).length;
    return ok({ dryRun: true, name, runs, blobs, logs, left, outside: OUTSIDE });
  }

  return { redact: (run, request, by) => alone(() => redact(run, request, by)) };
}

function underWay(run: RunId): ErrorEnvelope<'run/driven'> {
  return failure('run/driven', {
    message: `Nothing was redacted: run ${run} is active, and its plan may write the value again.`,
    suggestion: `Pause it first with "signalbox pause ${run}", redact it, then resume it.`,
    details: { run },
  });
}

function disagrees(run: RunId, why: string): ErrorEnvelope<'store/damaged'> {
  return failure('store/damaged', {
    message: `Nothing was redacted: the journal of run ${run} does not match its log, and would be lost. ${why}.`,
    suggestion: `Verify the run first: "signalbox verify ${run}".`,
    details: { run },
  });
}

/** The required confirmation is missing. */
export function unconfirmedRedaction(run: RunId, { runs }: RedactionReport): ErrorEnvelope<'run/unconfirmed'> {
  const records = runs.reduce((sum, one) => sum + one.records.length, 0);
  return failure('run/unconfirmed', {
    message: `Nothing was redacted: it would change ${records} records, for good.`,
    suggestion: 'Preview it with --dry-run, and confirm with --yes.',
    details: { run },
  });
}
