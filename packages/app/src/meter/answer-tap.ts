import { type JsonObject, parsedJson } from '@signalbox/model';
import type { Told, Wire } from './wires/wire.ts';

/** Of a line or a body that is read whole; of a longer one only the end, where vendors put the usage. */
const MOST_READ = 1_048_576;
const TAIL = 262_144;
const HEAD = 256;
/** Of a stream's beginning, from which its text is estimated if it ends without usage. */
const SAMPLE = 65_536;
/** The beginning of `usage` and of `usageMetadata`. */
const USAGE = '"usage';
const NEWLINE = 0x0a;

/**
 * Reads the spending of an answer while it flows past.
 *
 * 1. Nothing is changed or delayed; memory is bounded, however long a stream, a line or a body is.
 * 2. Only lines that may have usage are parsed: the others are skipped by native searches.
 */
export interface AnswerTap {
  /** Reads the next bytes. True if they end what the client waits for: the spending is committed before they are passed on. */
  take(chunk: Buffer): boolean;
  end(): void;
  told(): Told;
  /** Tokens of the text so far, as far as its beginning shows them. */
  estimatedOutput(): number;
  bytes(): number;
  /** The first bytes of the answer, as many as are kept. */
  text(): string;
}

export function createAnswerTap(wire: Wire, kind: 'events' | 'json', most = 0): AnswerTap {
  const marks = [USAGE, ...wire.endMarks].map(mark => Buffer.from(mark));
  const longest = Math.max(...marks.map(({ length }) => length));
  const line = createTail();
  /** Whether the line that has begun has a mark. */
  let isMarked = false;
  let told: Told = {};
  let isLast = false;
  let bytes = 0;
  let sample = '';
  const kept: Buffer[] = [];

  const hasMark = (part: Buffer) => marks.some(mark => part.indexOf(mark) >= 0);

  function read(text: string, isWhole: boolean): void {
    const data = text.startsWith('data:') ? text.slice(5).trim() : text.trim();
    if (data === '[DONE]') isLast ||= wire.isLast(data);
    const parsed = isWhole ? objectIn(data) : undefined;
    if (parsed !== undefined) {
      told = wire.told(told, parsed);
      isLast ||= kind === 'events' && wire.isLast(parsed);
      return;
    }
    const usage = usageIn(data);
    if (usage !== undefined) told = wire.told(told, usage);
    if (!isWhole && kind === 'events') isLast ||= wire.endMarks.some(mark => line.head().includes(mark));
  }

  function events(chunk: Buffer): void {
    let from = 0;
    // Most chunks have no mark: one look tells.
    const mayMark = hasMark(chunk);
    const first = chunk.indexOf(NEWLINE);
    if (line.length() > 0) {
      const rest = first < 0 ? chunk : chunk.subarray(0, first);
      // A mark may be cut in two by the end of a chunk.
      isMarked ||=
        (mayMark && hasMark(rest)) || hasMark(Buffer.concat([line.last(longest), rest.subarray(0, longest)]));
      line.add(rest);
      if (first < 0) return;
      if (isMarked) read(line.text(), line.isWhole());
      line.clear();
      isMarked = false;
      from = first + 1;
    }
    const lastLine = chunk.lastIndexOf(NEWLINE) + 1;
    const whole = chunk.subarray(from, lastLine);
    if (mayMark) for (const each of markedLines(whole, marks)) read(each, true);
    if (lastLine < chunk.length && lastLine >= from) {
      const rest = chunk.subarray(lastLine);
      isMarked = mayMark && hasMark(rest);
      line.add(rest);
    }
  }

  return {
    take(chunk) {
      if (bytes < most) kept.push(Buffer.from(chunk.subarray(0, most - bytes)));
      bytes += chunk.length;
      if (sample.length < SAMPLE) sample += chunk.toString('latin1', 0, SAMPLE - sample.length);
      if (kind === 'json') line.add(chunk);
      else events(chunk);
      return isLast;
    },
    end() {
      if (line.length() > 0 && (kind === 'json' || isMarked)) read(line.text(), line.isWhole());
      line.clear();
    },
    told: () => told,
    bytes: () => bytes,
    text: () => Buffer.concat(kept).toString('utf8'),
    estimatedOutput() {
      const text = textBytes(sample);
      return sample.length === 0 ? 0 : Math.ceil((text * (bytes / sample.length)) / 3);
    },
  };
}

/** The lines that have one of the marks. */
function* markedLines(whole: Buffer, marks: readonly Buffer[]): Generator<string> {
  for (let from = 0; from < whole.length; ) {
    let at = whole.length;
    for (const mark of marks) {
      const found = whole.indexOf(mark, from);
      if (found >= 0 && found < at) at = found;
    }
    if (at === whole.length) return;
    const begin = whole.lastIndexOf(NEWLINE, at) + 1;
    const end = whole.indexOf(NEWLINE, at);
    const to = end < 0 ? whole.length : end;
    yield whole.toString('utf8', Math.max(begin, from, to - MOST_READ), to);
    from = to + 1;
  }
}

/** Bytes that come in parts: all of them if they are few, otherwise the last ones. */
function createTail() {
  let parts: Buffer[] = [];
  let length = 0;
  let kept = 0;
  let head = '';
  return {
    add(part: Buffer): void {
      if (head.length < HEAD) head += part.toString('latin1', 0, HEAD - head.length);
      // A copy: the part may belong to a larger buffer.
      parts.push(Buffer.from(part));
      length += part.length;
      kept += part.length;
      if (kept <= MOST_READ) return;
      const tail = Buffer.concat(parts).subarray(-TAIL);
      parts = [Buffer.from(tail)];
      kept = tail.length;
    },
    length: () => length,
    isWhole: () => kept === length,
    /** The first bytes, where an event has its type. */
    head: () => head,
    /** The last bytes. Parts may be as small as one byte. */
    last(count: number): Buffer {
      let from = parts.length;
      for (let found = 0; from > 0 && found < count; ) found += parts[--from]?.length ?? 0;
      return Buffer.concat(parts.slice(from)).subarray(-count);
    },
    text: () => Buffer.concat(parts).toString('utf8'),
    clear(): void {
      parts = [];
      length = 0;
      kept = 0;
      head = '';
    },
  };
}

function objectIn(data: string): JsonObject | undefined {
  const parsed = parsedJson(data);
  if (Array.isArray(parsed))
    return parsed.findLast((one): one is JsonObject => typeof one === 'object' && one !== null);
  return typeof parsed === 'object' && parsed !== null ? (parsed as JsonObject) : undefined;
}

/** The last usage in a text that is not whole. */
function usageIn(text: string): JsonObject | undefined {
  for (const key of ['usage', 'usageMetadata']) {
    const at = text.lastIndexOf(`"${key}"`);
    const open = at < 0 ? -1 : text.indexOf('{', at);
    if (open < 0) continue;
    let depth = 0;
    for (let index = open; index < text.length; index++) {
      if (text[index] === '{') depth++;
      else if (text[index] === '}' && --depth === 0) {
        const value = objectIn(text.slice(open, index + 1));
        if (value !== undefined) return { [key]: value };
        break;
      }
    }
  }
  return undefined;
}

/** Members in which the vendors' streams have what the model says. */
const TEXTS =
  /"(?:text|thinking|partial_json|delta|content|arguments|reasoning|reasoning_content)"\s*:\s*"((?:[^"\\]|\\.)*)/g;

function textBytes(sample: string): number {
  let sum = 0;
  for (const [, text = ''] of sample.matchAll(TEXTS)) sum += text.length;
  return sum;
}
