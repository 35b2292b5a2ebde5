import { crc32, deflateRawSync, inflateRawSync } from 'node:zlib';
import { lz4Blocks } from './lz4-block.ts';

/**
 * The stored form of a record's body. Bodies are alike, so they are compressed with a shared dictionary: those of usual size fast, larger
 * ones well.
 *
 * 1. Compression affects only size: the text is what is hashed, published, journaled and exported.
 * 2. The first byte of a compressed body names its format and dictionary, which are never edited: a better one is a new entry.
 * 3. A body that would not shrink, or is too large to compress while others wait, is stored as text.
 * 4. A damaged cell reads as `UNREADABLE`, which is not a valid body: opening the record reports it. The inflated size is bounded, so a
 *    small cell cannot exhaust memory.
 */
export type BodyCell = string | Uint8Array;

/** Stands for a body that cannot be read. A body is JSON and never empty. */
export const UNREADABLE = '';

/** Compressing shorter bodies costs more than it saves. */
const MIN_LENGTH = 128;
/** Length of the text: in characters when writing, in bytes when reading. A character takes at most three bytes. */
const MAX_LENGTH = 16 * 1024 * 1024;
const MAX_USUAL_LENGTH = 32 * 1024;

const DEFLATED = 1;
const LZ4 = 2;
/** An LZ4 block is preceded by its format and its checksum: it has none itself, and changed ones may be the same text. */
const LZ4_HEAD = 5;

export function cellOfBody(text: string): BodyCell {
  if (text.length < MIN_LENGTH || text.length > MAX_LENGTH / 3) return text;
  const cell = text.length > MAX_USUAL_LENGTH / 3 ? deflated(text) : packed(text);
  return cell.length < text.length ? cell : text;
}

export function bodyOfCell(cell: unknown): string {
  if (typeof cell === 'string') return cell;
  if (!(cell instanceof Uint8Array)) return UNREADABLE;
  try {
    const bytes = cell[0] === LZ4 ? unpacked(cell) : inflated(cell);
    return bytes === undefined ? UNREADABLE : utf8.decode(bytes);
  } catch {
    return UNREADABLE;
  }
}

function packed(text: string): Uint8Array {
  const block = lz4.compress(text);
  const cell = Buffer.allocUnsafe(LZ4_HEAD + block.length);
  cell[0] = LZ4;
  cell.writeUInt32LE(crc32(block), 1);
  cell.set(block, LZ4_HEAD);
  return cell;
}

function unpacked(cell: Uint8Array): Uint8Array | undefined {
  const { buffer, byteOffset, length } = cell;
  const block = cell.subarray(LZ4_HEAD);
  if (length < LZ4_HEAD || new DataView(buffer, byteOffset).getUint32(1, true) !== crc32(block)) return undefined;
  return lz4.decompress(block);
}

/** Measured: more effort saves 5% and costs 20%; most of the cost is the stream itself. */
const FAST = { level: 3, memLevel: 4, windowBits: 13, chunkSize: 2048 } as const;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function deflated(text: string): Uint8Array {
  const body = deflateRawSync(text, { dictionary: firstDictionary, ...FAST });
  const cell = Buffer.allocUnsafe(body.length + 1);
  cell[0] = DEFLATED;
  body.copy(cell, 1);
  return cell;
}

function inflated(cell: Uint8Array): Uint8Array | undefined {
  if (cell[0] !== DEFLATED) return undefined;
  const body = cell.subarray(1);
  const options = {
    dictionary: firstDictionary,
    windowBits: FAST.windowBits,
    maxOutputLength: MAX_LENGTH,
    chunkSize: 4096,
    info: true,
  };
  // Node's types promise a buffer for `info`, but it returns an object.
  const { buffer, engine } = inflateRawSync(body, options) as unknown as {
    readonly buffer: Buffer;
    readonly engine: { readonly bytesWritten: number };
  };
  return engine.bytesWritten === body.length ? buffer : undefined;
}

/** Sample body texts: the rarest first, a plan step last. */
const FIRST_DICTIONARY = [
  '{"run":{"kind":"create","epoch":0,"run":{"driver":"plan","name":"","tags":[],"correlationId":"","idempotencyKey":"","status":"running",',
  '"phase":"BOOT","mode":"AUTO","globalMode":"IMPLEMENTATION","input":{},"limits":{},"seed":1,"owner":"","origin":{"kind":"fork","frame":0}}},',
  '"run":{"kind":"change","change":{"status":"completed","phase":"DONE","output":null,"owner":null}},',
  '"begins":{"intervals":[{"space":"node","key":"","value":{"json":{"blob":"sha256:","length":,{"space":"workspace","key":"read","file:',
  '"away":{"by":1,"frame":1,"events":true},"taken":{"kind":"redact","collapse","by":"","why":"","records":[{"n":1,"was":"sha256:","now":"sha256:"}]},',
  '"retention":{"kept":{"at":"","by":""}},"large":[{"at":["intervals",0,"change","value","result"],"blob":"sha256:"}]}',
  '"decisions":[{"id":"","node":"","iteration":0,"call":"call-1","kind":"command_exec","proposal":{"tool":"","input":{"command":""}},"proposalHash":"sha256:',
  '","askedAt":"","status":"open","answered","resolution":{"resolutionType":"approve","rationale":""},"answeredBy":"","closedAt":"","deliveredAt":""}],',
  '"artifacts":[{"id":"","node":"","task":"","kind":"report","name":"","digest":"sha256:","bytes":1,"mimeType":"text/markdown","text/plain","content":"',
  '","createdAt":"","key":"","alt":"","workstream":"","status":"draft","provenance":{},"version":1}],',
  '"usage":[{"call":"","node":"","task":"","provider":"","model":"","inputTokens":0,"outputTokens":0,"cachedTokens":0,"toolCalls":0,"costMicroUsd":0,"wallMs":0,"at":"',
  '"stream":[{"task":"","index":0,"kind":"message","payload":{"role":"assistant","text":""},"at":""},{"kind":"tool_start","tool_end","payload":{"tool":"","call":"","input":{},"output":{},"ok":true}}],',
  '"events":[{"id":"","ts":"","type":"signal.received","run.status","run.phase","from":"","to":"","name":"","payload":null,"by":""}]',
  '"status":"error","cancelled","effects":"external","leaseExpiresAt":"","heartbeatAt":"","retryCount":1,"maxRetries":3,"nextRetryAt":"","lastError":{"class":"retryable","code":"","message":""},"blockReason":"rate_limit",',
  '"mounted":["unmounted":["],"intervals":[["node","",{"set":{"type":"Sequence","Parallel","Task","Agent","parent":"","index":0,"path":"","key":"","props":{"id":"","children":["',
  '{"salt":"","frame":{"index":1,"at":"2026-11-18T00:00:00.000Z","trigger":{"kind":"task","detail":"task_finished","keys":["k0"]},"written":["k0"],"digest":"sha256:"},',
  '"intervals":[["state","k0",{"set":""}],["state","k0",{"patch":[{"op":"splice","path":[],"at":0,"remove":1,"insert":"1"}]}],',
  '["status","n1",{"patch":[{"op":"set","path":["status"],"value":"succeeded"}]}],["status","n1",{"set":{"status":"succeeded","iteration":0}}],',
  '["status","n2",{"set":{"status":"running","iteration":0,"signature":"0123456789abcdef"}}],["status","n2",{"set":{"status":"running","iteration":0}}]],',
  '"transitions":[{"frame":1,"key":"k0","trigger":"task.finished","node":"n1","handler":"onFinished"}],',
  '"tasks":[{"id":"","node":"n1","signature":"","status":"done","createdAt":"2026-11-18T00:00:00.000Z","startedAt":"2026-11-18T00:00:00.000Z",',
  '"result":{"ok":true,"text":""},"endedAt":"2026-11-18T00:00:00.000Z","handledFrame":1},',
  '{"id":"","node":"n2","signature":"","status":"running","leaseOwner":"","now":["createdAt","startedAt"]}],',
  '"events":[["task.ended",0,false],["state.changed",0],["handler.ran",0,"onFinished",1],["task.started",1],["node.status",1,"running"],["node.status",3,"idle"],["frame.committed"]]}',
].join('');

const firstDictionary = Buffer.from(FIRST_DICTIONARY);
const lz4 = lz4Blocks(firstDictionary, MAX_USUAL_LENGTH);
