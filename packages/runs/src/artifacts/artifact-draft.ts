import {
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  json,
  ok,
  type Result,
  type SecretFilter,
  utf8Length,
} from '@signalbox/model';
import { bytesOfBase64 } from './base64.ts';
import { imageType } from './image-type.ts';

/** An artifact as an author or an agent provides it. */
export type ArtifactInput = ArtifactName &
  (
    | { readonly kind: 'markdown'; readonly content: string }
    | {
        readonly kind: 'table';
        readonly columns: readonly string[];
        readonly rows: readonly { readonly [column: string]: Json }[];
      }
    | {
        readonly kind: 'progress';
        readonly current: number;
        readonly total: number;
        readonly label?: string | undefined;
      }
    | { readonly kind: 'link'; readonly url: string; readonly label?: string | undefined }
    /** The bytes of an image, or a data URL. */
    | { readonly kind: 'image'; readonly data: Uint8Array | string; readonly alt?: string | undefined }
  );

interface ArtifactName {
  readonly name: string;
  /** Artifacts with the same key are versions of one thing; one without a key stands alone. */
  readonly key?: string | undefined;
}

/** An artifact with its final content, not stored yet. */
export interface ArtifactDraft {
  readonly kind: ArtifactInput['kind'];
  readonly name: string;
  readonly key?: string;
  readonly alt?: string;
  readonly mimeType: string;
  readonly content: string | Uint8Array;
}

export type ArtifactError = ErrorEnvelope<'artifact/invalid' | 'artifact/too-large'>;

/** The maximum size of one artifact. */
export const artifactLimits = {
  name: 256,
  textBytes: 1_048_576,
  imageBytes: 8_388_608,
  columns: 100,
  rows: 10_000,
} as const;

/** Checks the input and produces its content: text unchanged, structured data as JSON, images as bytes. */
export function draftArtifact(
  given: ArtifactInput,
  secrets?: Pick<SecretFilter, 'data' | 'text'>,
): Result<ArtifactDraft, ArtifactError> {
  const input = secrets === undefined ? given : secrets.data(given);
  const { kind, name, key } = input;
  const invalid = (why: string) => err(invalidArtifact(kind, name, why));
  if (!isLabel(name)) return invalid(`its name must be a text of 1 to ${artifactLimits.name} characters`);
  if (key !== undefined && !isLabel(key))
    return invalid(`its key must be a text of 1 to ${artifactLimits.name} characters`);
  const made = contentOf(input);
  if (typeof made === 'string') return invalid(made);
  const content = secrets === undefined ? made : withoutSecrets(made, secrets);
  const bytes = typeof content.content === 'string' ? utf8Length(content.content) : content.content.length;
  const most = kind === 'image' ? artifactLimits.imageBytes : artifactLimits.textBytes;
  if (bytes > most) return err(tooLarge(kind, name, bytes, most));
  const { alt } = input as { readonly alt?: string };
  return ok({ kind, name, ...content, ...(key === undefined ? {} : { key }), ...(alt === undefined ? {} : { alt }) });
}

/** An SVG is text and may contain anything. */
function withoutSecrets(made: Content, { text }: Pick<SecretFilter, 'text'>): Content {
  if (typeof made.content === 'string' || made.mimeType !== 'image/svg+xml') return made;
  const words = characters(made.content);
  const kept = text(words);
  return kept === words ? made : { ...made, content: Uint8Array.from(kept, character => character.charCodeAt(0)) };
}

/** One character per byte: secrets are also matched in that form. */
function characters(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

type Content = Pick<ArtifactDraft, 'mimeType' | 'content'>;

/** The content, or why it is invalid. */
function contentOf(input: ArtifactInput): Content | string {
  switch (input.kind) {
    case 'markdown':
      return isText(input.content)
        ? { mimeType: 'text/markdown', content: input.content }
        : 'its content must be a well-formed text';
    case 'table':
      return tableOf(input.columns, input.rows);
    case 'progress': {
      const { current, total, label } = input;
      if (!isAmount(current) || !isAmount(total) || total === 0 || current > total)
        return 'it must be somewhere from 0 to a total above 0';
      return withLabel({ current, total }, label);
    }
    case 'link':
      return isLink(input.url)
        ? withLabel({ url: input.url }, input.label)
        : 'its url must be one of http, https, mailto or artifact';
    case 'image':
      return pictureOf(input.data, input.alt);
  }
}

function tableOf(columns: unknown, rows: unknown): Content | string {
  if (!Array.isArray(columns) || columns.length === 0 || columns.length > artifactLimits.columns)
    return `it must have 1 to ${artifactLimits.columns} columns`;
  if (!columns.every(column => isText(column)) || new Set(columns).size < columns.length)
    return 'its columns must be texts, no two the same';
  if (!Array.isArray(rows) || rows.length > artifactLimits.rows)
    return `it must have a list of rows, at most ${artifactLimits.rows}`;
  const plain = json.safeParse(rows);
  if (!plain.success) return 'its rows must be plain data';
  const odd = rows.findIndex(row => !isRow(row, columns));
  if (odd >= 0) return `row ${odd} must be an object with no members but the columns`;
  return { mimeType: 'application/json', content: JSON.stringify({ columns, rows }) };
}

function isRow(row: unknown, columns: readonly string[]): boolean {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return false;
  return Object.keys(row).every(column => columns.includes(column));
}

function withLabel(fields: { readonly [name: string]: Json }, label: unknown): Content | string {
  if (label !== undefined && !isText(label)) return 'its label must be a text';
  const content = JSON.stringify(label === undefined ? fields : { ...fields, label });
  return { mimeType: 'application/json', content };
}

function pictureOf(data: unknown, alt: unknown): Content | string {
  if (alt !== undefined && !isLabel(alt)) return `its alt must be a text of 1 to ${artifactLimits.name} characters`;
  const bytes = data instanceof Uint8Array ? data : typeof data === 'string' ? bytesOfUrl(data) : undefined;
  if (bytes === undefined || bytes.length === 0) return 'it must be bytes or a data URL with base64';
  const mimeType = imageType(bytes);
  return mimeType === undefined
    ? 'its bytes are no picture of a known kind (PNG, JPEG, GIF, WebP, AVIF, SVG)'
    : { mimeType, content: bytes };
}

/** The type in the URL is not trusted: the bytes decide. */
function bytesOfUrl(url: string): Uint8Array | undefined {
  const [head, data = ''] = url.split(',', 2);
  return /^data:[^,]*;base64$/i.test(head ?? '') ? bytesOfBase64(data) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed();
}

function isLabel(value: unknown): value is string {
  return isText(value) && value.length > 0 && value.length <= artifactLimits.name;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isLink(url: unknown): boolean {
  if (!isText(url) || /\s/.test(url)) return false;
  return /^(?:https?:\/\/[^/]|mailto:.|artifact:\/\/[0-9a-f-]{36}$)/i.test(url);
}

function invalidArtifact(kind: string, name: unknown, why: string): ArtifactError {
  return failure('artifact/invalid', {
    message: `The ${kind} ${shown(name)} cannot be kept: ${why}.`,
    suggestion: 'Change what is given and make it again.',
  });
}

function tooLarge(kind: string, name: string, bytes: number, most: number): ArtifactError {
  return failure('artifact/too-large', {
    message: `The ${kind} ${shown(name)} takes ${bytes} bytes; at most ${most} are kept.`,
    suggestion: 'Keep less of it, or write it to a file and keep a link.',
    details: { bytes, most },
  });
}

function shown(name: unknown): string {
  return JSON.stringify(String(name).slice(0, 100).toWellFormed());
}
