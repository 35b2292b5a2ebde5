import { sqliteCode } from '@signalbox/journal';
import { type ErrorEnvelope, failure } from '@signalbox/model';
import { StoreDamage, StoreFault } from './sqlite/json-column.ts';

const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/** Converts a value thrown by a read into a damage error; undefined for any other failure. */
export function thrownDamage(thrown: unknown): ErrorEnvelope<'store/damaged'> | undefined {
  const what = damageOf(thrown);
  if (what === undefined) return undefined;
  return failure('store/damaged', {
    message: `The data directory is damaged: ${what.replace(/\.$/, '')}.`,
    suggestion:
      'Run "signalbox doctor --deep" to see what is affected, then "signalbox repair" to rebuild what can be rebuilt.',
  });
}

function damageOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error)) return undefined;
  if (thrown instanceof StoreDamage) return thrown.message;
  if (thrown instanceof StoreFault) {
    const { code, message } = thrown.envelope;
    return code === 'store/blob-missing' || code === 'store/blob-corrupt' ? message : undefined;
  }
  const code = sqliteCode(thrown);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return `SQLite reports: ${thrown.message}`;
  // SQLite holds integers that JavaScript numbers cannot.
  const isHuge =
    'code' in thrown && thrown.code === 'ERR_OUT_OF_RANGE' && thrown.message.startsWith('Value is too large');
  return isHuge ? 'a row holds a number that was never written' : undefined;
}
