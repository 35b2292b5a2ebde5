import { Bug } from '@signalbox/model';
import { TrieRouter } from 'hono/router/trie-router';
import { type Needed, routeAccess } from './access-table.ts';

interface Registered {
  readonly method: string;
  readonly path: string;
}

/** Below these paths, anything that is not in the table is refused. */
export const guardedPaths = ['/api/*', '/mcp/*', '/metrics/*'];

/** All roles that a request needs, matched as the server matches routes; empty if no route matches. */
export function createRouteNeeds(): (method: string, path: string) => readonly Needed[] {
  const router = new TrieRouter<Needed>();
  for (const [key, needed] of Object.entries(routeAccess)) {
    const [method = '', path = ''] = key.split(' ');
    router.add(method, path, needed);
  }
  return (method, path) => {
    // A HEAD request is answered as a GET without its body.
    const [found] = router.match(method === 'HEAD' ? 'GET' : method, path);
    return found.map(([needed]) => needed);
  };
}

/** Throws if a route is not in the table: the server must not start with it. */
export function assertDeclared(routes: readonly Registered[]): void {
  const missing = routes
    .filter(({ path }) => !path.endsWith('*') && guardedPaths.some(guarded => isBelow(path, guarded)))
    .map(({ method, path }) => `${method} ${path}`)
    .filter(key => !Object.hasOwn(routeAccess, key));
  if (missing.length > 0) throw new Bug(`the access table has no row for ${missing.join(', ')}`);
}

function isBelow(path: string, guarded: string): boolean {
  const base = guarded.replace(/\/\*$/, '');
  return path === base || path.startsWith(`${base}/`);
}
