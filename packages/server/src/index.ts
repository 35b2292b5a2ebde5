export { createAccess } from './http/access.ts';
export { createHttpApp, type HttpAppOptions } from './http/http-app.ts';
export { type RunningServer, type ServerOptions, startServer } from './start-server.ts';
