import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import { finishRedaction, type RedactionPorts } from './finish-redaction.ts';
import { noteFault, readNote, removeNote } from './taking-note.ts';

/** Finishes the removal of a killed process. Returns whether there was any. */
export async function finishTaking(ports: RedactionPorts): Promise<Result<boolean, ErrorEnvelope>> {
  const { dataDirectory, store, rewriteJournal } = ports;
  const fault = noteFault(dataDirectory);
  if (fault !== undefined) return err(fault);
  const note = readNote(dataDirectory);
  if (note === undefined) return ok(false);
  if (note.kind === 'redaction') {
    const done = await finishRedaction(ports, note);
    return done.ok ? ok(true) : done;
  }
  for (const run of note.runs) {
    if ((await store.run(run)) === undefined) continue;
    const written = await rewriteJournal(run);
    if (!written.ok) return written;
  }
  removeNote(dataDirectory);
  return ok(true);
}
