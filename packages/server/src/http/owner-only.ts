import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { Caller } from './handlers.ts';

/** What a body may say in the name of the person at the command line of this machine. */
interface OwnersWord {
  readonly anyFile?: boolean | undefined;
  readonly anyDirectory?: boolean | undefined;
  readonly trust?: boolean | undefined;
}

/**
 * Only the command line names any file or trusts the plan of somebody else. It proves that it is the person at this machine by the
 * owner's token, which it reads from the data directory; the console, which has a token of its own, and MCP have no such field.
 */
export function ownersWordRefusal(
  said: OwnersWord,
  { identity }: Pick<Caller, 'identity'>,
): ErrorEnvelope<'request/forbidden'> | undefined {
  const word = (['anyFile', 'anyDirectory', 'trust'] as const).find(each => said[each] === true);
  if (word === undefined || identity.isPermanent) return undefined;
  return failure('request/forbidden', {
    message: `Only the owner, at the command line of this machine, may say "${word}".`,
    suggestion:
      word === 'trust'
        ? 'Leave it out, or ask the person who runs this server.'
        : 'Leave it out, and name a file or directory that is allowed over the network.',
  });
}
