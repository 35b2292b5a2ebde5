export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Connect, type Connection, type ConnectionEvents, connectWebSocket } from './connect.ts';
export { logIn } from './log-in.ts';
export type { Answer, Fetch } from './request.ts';
export type { News, Watch, WatchOptions } from './watch.ts';
