import { type ErrorEnvelope, failure } from '@signalbox/model';
import type { Caller } from './handlers.ts';

/** Fields of a body that only the person at this machine's command line may set. */
interface OwnersWord {
  readonly anyFile?: boolean | undefined;
  readonly anyDirectory?: boolean | undefined;
  readonly trust?: boolean | undefined;
}

/**
 * Only the command line may name any file or trust someone else's plan. It proves that it acts for the person at this machine with the
 * owner's token, which it reads from the data directory; the console, which has its own token, and MCP have no such field.
 */
export function ownersWordRefusal(
  said: OwnersWord,
  { identity }: Pick<Caller, 'identity'>,
): ErrorEnvelope<'request/forbidden'> | undefined {
  const word = (['anyFile', 'anyDirectory', 'trust'] as const).find(each => said[each] === true);
  if (word === undefined || identity.isPermanent) return undefined;
  return failure('request/forbidden', {
    message: `Only the owner, at the command line of this machine, may set "${word}".`,
    suggestion:
      word === 'trust'
        ? 'Leave it out, or ask the person who runs this server.'
        : 'Leave it out, and name a file or directory that is allowed over the network.',
  });
}
