import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';

/**
 * Converts a thrown system error about a path from the command line, or about a path below one, to a usage error. Returns undefined for
 * every other error: a path that nobody named is a bug.
 */
export function namedPathError(thrown: unknown, argv: readonly string[]): ErrorEnvelope | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { code = '', path: failed } = thrown as NodeJS.ErrnoException;
  const fault = FAULTS[code];
  if (failed === undefined || fault === undefined) return undefined;
  const named = argv
    .map(argument => argument.replace(/^--[\w-]+=/, ''))
    .find(argument => isAtOrBelow(failed, argument));
  if (named === undefined) return undefined;
  // A file was taken for a directory: the name that was given is the one to correct.
  const isBelow = path.resolve(failed) !== path.resolve(named);
  if (code === 'ENOTDIR' && isBelow) return usageError(`${shortened(named)} is not a directory.`, 'Give a directory.');
  return usageError(fault.message(shortened(failed)), fault.suggestion);
}

interface PathFault {
  readonly message: (file: string) => string;
  readonly suggestion: string;
}

const DENIED: PathFault = {
  message: file => `You have no permission to open ${file}.`,
  suggestion: 'Check its permissions and those of the directories above it, or give another path.',
};
const FULL: PathFault = {
  message: file => `${file} cannot be written: its disk is full.`,
  suggestion: 'Free some space there, or give another path.',
};

const FAULTS: Readonly<Record<string, PathFault>> = {
  EACCES: DENIED,
  EPERM: DENIED,
  ENOENT: {
    message: file => (file === '' ? 'An empty path names no file.' : `${file} does not exist.`),
    suggestion: 'Give a path that exists.',
  },
  ENOTDIR: {
    message: file => `${file} does not exist: one of its directories is a file.`,
    suggestion: 'Correct the path.',
  },
  EISDIR: { message: file => `${file} is a directory.`, suggestion: 'Give a file.' },
  ELOOP: {
    message: file => `${file} leads through symbolic links that have no end.`,
    suggestion: 'Correct the links, or give another path.',
  },
  ENAMETOOLONG: { message: file => `The name ${file} is too long.`, suggestion: 'Give a shorter path.' },
  EROFS: {
    message: file => `${file} cannot be written: its disk is read-only.`,
    suggestion: 'Give another path.',
  },
  ENOSPC: FULL,
  EDQUOT: FULL,
};

function isAtOrBelow(failed: string, named: string): boolean {
  if (failed === '' || named === '') return failed === named;
  const relative = path.relative(path.resolve(named), path.resolve(failed));
  return relative === '' || !(relative === '..' || relative.startsWith(`..${path.sep}`) || path.isAbsolute(relative));
}

const MAX_SHOWN = 200;

function shortened(file: string): string {
  return file.length > MAX_SHOWN ? `${file.slice(0, MAX_SHOWN)}…` : file;
}
