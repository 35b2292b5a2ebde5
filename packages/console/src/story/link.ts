import type { ErrorEnvelope } from '@signalbox/model';

/** How the connection to the server stands. */
export type Link =
  | { readonly status: 'connecting' | 'live' }
  | { readonly status: 'lost'; readonly retryMs: number }
  | { readonly status: 'ended'; readonly error: ErrorEnvelope };

/** In one word: `refused` is a token that the server does not know. */
export function linkOf(link: Link): 'connecting' | 'live' | 'lost' | 'ended' | 'refused' {
  return link.status === 'ended' && link.error.code === 'request/unauthorized' ? 'refused' : link.status;
}
