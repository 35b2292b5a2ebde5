import { type Login, login } from '@signalbox/model';
import { type Answer, createRequest, type Fetch, platformFetch } from './request.ts';

/** Exchanges the code of a one-time link for a token. A code counts once. */
export function logIn(url: string, code: string, fetch: Fetch = platformFetch): Answer<Login> {
  return createRequest(url, undefined, fetch)({ method: 'POST', path: '/api/login', body: { code }, answer: login });
}
