import { parsedJson } from '../json.ts';
import { err, type Result } from '../result.ts';
import { utf8Length } from '../utf8.ts';
import { ADAPTER_EVENT_MAX_BYTES, type AdapterEvent, adapterEvent } from './adapter-event.ts';
import { type Fault, parseStrictly } from './strict-parse.ts';

/**
 * One message of an adapter, as it arrived: bytes or text. Nothing is repaired; a message that is not exactly an event has faults, the first
 * of which tells a person why.
 */
export function parseAdapterEvent(raw: string | Uint8Array): Result<AdapterEvent, readonly Fault[]> {
  const bytes = typeof raw === 'string' ? utf8Length(raw) : raw.length;
  if (bytes > ADAPTER_EVENT_MAX_BYTES) {
    return fault(`The message has ${bytes} bytes; ${ADAPTER_EVENT_MAX_BYTES} are allowed.`);
  }
  const text = typeof raw === 'string' ? raw : decoded(raw);
  if (text === undefined) return fault('The message is not UTF-8 text.');
  if (text.trim() === '') return fault('The message is empty.');
  const value = parsedJson(text);
  if (value === undefined) return fault(`The message is not JSON, or not all of it: ${excerpt(text)}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fault(`The message must be an object, not ${Array.isArray(value) ? 'a list' : excerpt(text)}.`);
  }
  return parseStrictly(adapterEvent, value);
}

function fault(sentence: string): Result<never, readonly Fault[]> {
  return err([{ field: '', sentence }]);
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const EXCERPT = 40;

function excerpt(text: string): string {
  const start = text.trim().slice(0, EXCERPT).toWellFormed();
  return JSON.stringify(start.length < text.trim().length ? `${start}…` : start);
}
