import {
  type ErrorEnvelope,
  expiryAfter,
  openUsers,
  type User,
  type UserTerms,
  usageError,
  userRole,
} from '@signalbox/app';
import { type Result, thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';
import { ownerClient } from './owner-client.ts';

interface TermFlags extends DataFlags {
  readonly role?: string;
  readonly expires?: string;
}

const ROLES = userRole.options.join(', ');

export const defineUsers: DefineCommand = (command, { terminal, end }) => {
  const machine = thisMachine();
  const usersOf = ({ dataDir }: DataFlags) => openUsers(askedDataDirectory(dataDir), machine);
  const writableUsersOf = ({ dataDir }: DataFlags) => openUsers(writableDataDirectory(dataDir), machine);
  const tell = <T>({ json = false }: DataFlags, outcome: Result<T, ErrorEnvelope>, print: (value: T) => void) => {
    if (outcome.ok) {
      print(outcome.value);
      return end(exitCodes.done);
    }
    reportError(terminal, outcome.error, json);
    end(exitCodeOf(outcome.error));
  };
  const tellToken = (flags: DataFlags, outcome: Result<User & { readonly token: string }, ErrorEnvelope>) =>
    tell(flags, outcome, user => {
      const { token, name, role, expiresAt } = user;
      const until = expiresAt === undefined ? '' : ` until ${expiresAt}`;
      terminal.print(
        flags.json ? JSON.stringify(user) : `${token}\nToken of ${name}, role ${role}${until}. It is not shown again.`,
      );
    });
  const termsOf = ({ role, expires }: TermFlags): Result<UserTerms, ErrorEnvelope> => {
    const known = userRole.optional().safeParse(role);
    if (!known.success) {
      return { ok: false, error: usageError(`--role must be one of ${ROLES}; got "${role}".`, 'Give one of them.') };
    }
    const expiresAt = expires === undefined ? undefined : expiryAfter(expires, machine.clock);
    if (expires !== undefined && expiresAt === undefined) {
      const message = `--expires must be a lifetime like 30d, 12h or 90m; got "${expires}".`;
      return { ok: false, error: usageError(message, 'Leave it out for a token that does not expire.') };
    }
    return { ok: true, value: { role: known.data, expiresAt } };
  };

  command
    .description(
      'Manages tokens of people and agents for "signalbox serve", each with a role, so that a run\'s events name who did what. The ' +
        'data directory\'s own token belongs to "operator", an owner.',
    )
    .addHelpText(
      'after',
      `
Roles:
  viewer     reads
  approver   also answers decisions
  operator   also starts, stops and edits
  owner      also manages users
  agent      walks guided workflows at /mcp/agent, and nothing else

Examples:
  $ signalbox users add ada --role operator --expires 30d
  $ signalbox users
  $ signalbox users rotate ada
  $ signalbox users remove ada`,
    );

  command
    .command('add <name>')
    .summary('add a user, and print the token once')
    .description(
      'Adds a user and prints the token once: only its digest is stored. A running server accepts it at once.',
    )
    .option('--role <role>', `what the token may do: ${ROLES}`, 'viewer')
    .option('--expires <lifetime>', 'how long the token is valid: 90m, 12h, 30d or 2w; default: forever')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the user and the token as JSON')
    .action((name: string, flags: TermFlags) => {
      const terms = termsOf(flags);
      const added = terms.ok ? writableUsersOf(flags).add(name, terms.value) : terms;
      tellToken(flags, added.ok ? { ok: true, value: { ...added.value.user, token: added.value.token } } : added);
    });

  command
    .command('ls', { isDefault: true })
    .summary('list the users')
    .description('Lists users with their roles, token expiry and last use.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .action((flags: DataFlags) =>
      tell(flags, usersOf(flags).list(), users => {
        if (flags.json) for (const user of users) terminal.print(JSON.stringify(user));
        else if (users.length === 0) terminal.print('No users yet.');
        else for (const line of describeUsers(users, machine.clock.now())) terminal.print(line);
      }),
    );

  command
    .command('rotate <name>')
    .summary("replace a user's token, and print the new one once")
    .description(
      'Gives a user a new token with the same role, and the same lifetime unless another is given. The old token is revoked: a ' +
        'running server closes its connections before this command returns.',
    )
    .option('--expires <lifetime>', 'how long the new token is valid: 90m, 12h, 30d or 2w')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the user and the token as JSON')
    .action(async (name: string, flags: TermFlags) => {
      const terms = termsOf(flags);
      if (!terms.ok) return tellToken(flags, terms);
      const { expiresAt } = terms.value;
      const owner = await ownerClient(askedDataDirectory(flags.dataDir));
      if (owner !== undefined) return tellToken(flags, await owner.rotateUser(name, expiresAt && { expiresAt }));
      const rotated = writableUsersOf(flags).rotate(name, { expiresAt });
      tellToken(
        flags,
        rotated.ok ? { ok: true, value: { ...rotated.value.user, token: rotated.value.token } } : rotated,
      );
    });

  command
    .command('remove <name>')
    .summary('remove a user and revoke the token')
    .description(
      "Removes a user. The token is revoked: a running server closes its connections before this command returns. The user's actions " +
        'stay in the events.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the user as JSON')
    .action(async (name: string, flags: DataFlags) => {
      const owner = await ownerClient(askedDataDirectory(flags.dataDir));
      const removed = owner === undefined ? writableUsersOf(flags).remove(name) : await owner.removeUser(name);
      tell(flags, removed, user => terminal.print(flags.json ? JSON.stringify(user) : `Removed ${user.name}.`));
    });
};

/** A table: name, role, expiry, last use. */
function describeUsers(users: readonly User[], now: number): readonly string[] {
  const rows = users.map(({ name, role, expiresAt, lastUsedAt }) => [
    name,
    role,
    expiresAt === undefined
      ? 'never expires'
      : `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${expiresAt.slice(0, 16)}Z`,
    lastUsedAt === undefined ? 'never used' : `used ${lastUsedAt.slice(0, 16)}Z`,
  ]);
  const widths = [0, 1, 2].map(column => Math.max(...rows.map(row => row[column]?.length ?? 0)));
  return rows.map(row =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
