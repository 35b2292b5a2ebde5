import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { type Clock, type ErrorEnvelope, err, failure, ok, type Result, timestampOf } from '@signalbox/model';
import { type ProjectRules, readSandboxRules, SANDBOX_FILE, type SandboxRulesError } from '@signalbox/state';
import * as z from 'zod';

/**
 * The rules that projects set for their commands, as far as a person has accepted them.
 *
 * 1. A `sandbox.json` counts only in its accepted version: one that an agent writes, or that comes with a repository, widens nothing.
 * 2. Acceptance is stored in the data directory, which no tool and no command can enter.
 * 3. An unaccepted file is not ignored: commands are refused until a person has looked at it.
 */
export interface AcceptedRules {
  /** The rules for commands in a directory. */
  rulesFor(root: string): Result<ProjectRules | undefined, SandboxRulesError>;
  /** The file of a directory's project, accepted or not. */
  look(root: string): Result<FoundRules | undefined, SandboxRulesError>;
  /** Accepts the current file of a directory's project. */
  accept(root: string, clock: Clock): Result<ProjectRules, ErrorEnvelope>;
}

interface FoundRules {
  readonly project: ProjectRules;
  /** `changed`: an earlier version was accepted. */
  readonly state: 'accepted' | 'changed' | 'new';
}

const acceptance = z.strictObject({ file: z.string(), digest: z.string(), at: z.string() });
const acceptedFile = z.strictObject({ v: z.literal(1), accepted: z.array(acceptance) });
type Acceptance = z.infer<typeof acceptance>;

export function openAcceptedRules(dataDirectory: string, home = homedir()): AcceptedRules {
  const kept = path.join(dataDirectory, 'sandbox-accepted.json');
  const workspaces = `${path.resolve(dataDirectory)}-workspaces`;

  function accepted(): readonly Acceptance[] {
    try {
      return acceptedFile.parse(JSON.parse(readFileSync(kept, 'utf8'))).accepted;
    } catch {
      // An unreadable file accepts nothing.
      return [];
    }
  }

  function look(root: string): Result<FoundRules | undefined, SandboxRulesError> {
    const project = projectOf(root);
    if (project === undefined) return ok(undefined);
    const read = readSandboxRules(project, home);
    if (!read.ok) return read;
    if (read.value === undefined) return ok(undefined);
    const { file, digest } = read.value;
    // A workspace is a copy of the project.
    const isCopy = file.startsWith(`${workspaces}${path.sep}`);
    const known = accepted().filter(one => isCopy || one.file === file);
    const isAccepted = known.some(one => one.digest === digest);
    return ok({ project: read.value, state: isAccepted ? 'accepted' : known.length > 0 ? 'changed' : 'new' });
  }

  return {
    look,
    rulesFor(root) {
      const found = look(root);
      if (!found.ok) return found;
      if (found.value === undefined) return ok(undefined);
      const { project, state } = found.value;
      return state === 'accepted' ? ok(project) : err(notAccepted(project.file, state, root));
    },
    accept(root, clock) {
      const found = look(root);
      if (!found.ok) return found;
      if (found.value === undefined) return err(noFile(root));
      const { file, digest } = found.value.project;
      const others = accepted().filter(one => one.file !== file);
      const all = { v: 1, accepted: [...others, { file, digest, at: timestampOf(clock) }] };
      try {
        mkdirSync(dataDirectory, { recursive: true, mode: 0o700 });
        writeFileSync(`${kept}.new`, `${JSON.stringify(all)}\n`, { mode: 0o600 });
        renameSync(`${kept}.new`, kept);
      } catch (cause) {
        return err(notKept(kept, (cause as NodeJS.ErrnoException).code ?? String(cause)));
      }
      return ok(found.value.project);
    },
  };
}

/** The nearest directory, from a root upwards, that has the file. */
function projectOf(root: string): string | undefined {
  let at = existsSync(root) ? realpathSync(root) : path.resolve(root);
  while (!existsSync(path.join(at, SANDBOX_FILE))) {
    const parent = path.dirname(at);
    if (parent === at) return undefined;
    at = parent;
  }
  return at;
}

function notAccepted(file: string, state: 'changed' | 'new', root: string): SandboxRulesError {
  const what = state === 'new' ? 'has not been accepted by a person' : 'has changed since a person accepted it';
  return failure('tool/refused', {
    message: `${file} ${what}`,
    suggestion: `Nothing was run. A person must read the file and run: signalbox sandbox accept '${root}'`,
  });
}

function noFile(root: string): ErrorEnvelope {
  return failure('command/usage', {
    message: `${root} and the directories above it have no ${SANDBOX_FILE}.`,
    suggestion: 'Write one first; docs/sandbox.md describes it.',
  });
}

function notKept(file: string, reason: string): ErrorEnvelope {
  return failure('store/unusable', {
    message: `${file} cannot be written (${reason}).`,
    suggestion: 'Make the data directory writable, or choose another with --data-dir.',
  });
}
