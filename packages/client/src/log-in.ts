import type { Login } from '@signalbox/model';
import { callOperation } from './methods.ts';
import { type Answer, createRequest, type Fetch, platformFetch } from './request.ts';

/** Exchanges the code of a one-time link for a token. A code works once. */
export function logIn(url: string, code: string, fetch: Fetch = platformFetch): Answer<Login> {
  return callOperation(createRequest(url, undefined, fetch), 'login', [{ code }]);
}
