import type { ErrorEnvelope } from '@signalbox/model';

/** The state of the connection to the server. */
export type Link =
  | { readonly status: 'connecting' | 'live' }
  | { readonly status: 'lost'; readonly retryMs: number }
  | { readonly status: 'ended'; readonly error: ErrorEnvelope };

/** In one word: `refused` means that the server does not know the token. */
export function linkOf(link: Link): 'connecting' | 'live' | 'lost' | 'ended' | 'refused' {
  return link.status === 'ended' && link.error.code === 'request/unauthorized' ? 'refused' : link.status;
}
