import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { commandLimits } from './command-limits.ts';

/** The project file that allows its commands more, relative to the project's directory. */
export const SANDBOX_FILE = '.signalbox/sandbox.json';

const MAX_BYTES = 65_536;
const MAX_ENTRIES = 100;

const place = z
  .string()
  .min(1)
  .regex(/^[^\0]*$/, 'it must not contain a null character')
  .describe('An absolute path, one that begins with ~/, or one relative to the project.');

export const sandboxRules = z.strictObject({
  read: z
    .array(place)
    .max(MAX_ENTRIES)
    .default([])
    .describe('Additional files and directories that commands may read.'),
  write: z
    .array(place)
    .max(MAX_ENTRIES)
    .default([])
    .describe('Additional files and directories that commands may change. Changes there are not undone.'),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'it must be the name of a variable'))
    .max(MAX_ENTRIES)
    .default([])
    .describe("Names of the server's environment variables that commands see."),
  network: z
    .enum(['none', 'host'])
    .default('none')
    .describe('`host`: everything that this machine can reach, including local services and cloud metadata.'),
  limits: commandLimits.prefault({}),
});
/** What a project additionally allows its commands. */
export type SandboxRules = Readonly<z.infer<typeof sandboxRules>>;

export const NO_RULES: SandboxRules = sandboxRules.parse({});

/** A project's rules with absolute paths. */
export interface ProjectRules {
  readonly file: string;
  /** Identifies this version of the file. */
  readonly digest: string;
  readonly rules: SandboxRules;
}

export type SandboxRulesError = ErrorEnvelope<'tool/refused'>;

/** Reads a project's file. Undefined if there is none; an error if any part is invalid: it is never used partially. */
export function readSandboxRules(project: string, home: string): Result<ProjectRules | undefined, SandboxRulesError> {
  const file = path.join(project, SANDBOX_FILE);
  let bytes: Buffer;
  try {
    // Reading a pipe in its place would block forever.
    const handle = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    try {
      const opened = fs.fstatSync(handle);
      if (!opened.isFile()) return err(unusable(file, 'it is not a file'));
      if (opened.size > MAX_BYTES) return err(unusable(file, `it has more than ${MAX_BYTES} bytes`));
      bytes = fs.readFileSync(handle);
    } finally {
      fs.closeSync(handle);
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ENOTDIR' ? ok(undefined) : err(unusable(file, `it cannot be read (${code})`));
  }
  let given: unknown;
  try {
    given = JSON.parse(bytes.toString('utf8'));
  } catch {
    return err(unusable(file, 'it is not JSON'));
  }
  const parsed = sandboxRules.safeParse(given);
  if (!parsed.success) return err(unusable(file, explained(parsed.error.issues[0])));
  const absolute = (one: string) => {
    if (one === '~') return home;
    return one.startsWith('~/') ? path.join(home, one.slice(2)) : path.resolve(project, one);
  };
  const { read, write, ...rest } = parsed.data;
  return ok({
    file,
    digest: createHash('sha256').update(bytes).digest('hex'),
    rules: { ...rest, read: read.map(absolute), write: write.map(absolute) },
  });
}

function explained(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'it does not fit its schema';
  if (issue.code === 'unrecognized_keys') {
    const where = issue.path.length === 0 ? 'it' : issue.path.join('.');
    return `${where} has ${issue.keys.map(key => JSON.stringify(key)).join(', ')}, which is not a setting`;
  }
  return `${issue.path.join('.') || 'it'}: ${issue.message}`;
}

function unusable(file: string, reason: string): SandboxRulesError {
  return failure('tool/refused', {
    message: `${file} cannot be used: ${reason}`,
    suggestion: 'Nothing was run. Correct the file or remove it; docs/sandbox.md describes it.',
  });
}
