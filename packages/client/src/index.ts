export { type Client, createClient } from './client.ts';

export { logIn } from './log-in.ts';
export type { Answer } from './request.ts';
export type { News } from './watch.ts';
