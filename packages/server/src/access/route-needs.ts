import { Bug } from '@signalbox/model';
import { TrieRouter } from 'hono/router/trie-router';
import { type Needed, routeAccess } from './access-table.ts';

interface Registered {
  readonly method: string;
  readonly path: string;
}

/** Below these paths nothing is answered that is not in the table. */
export const guardedPaths = ['/api/*', '/mcp/*', '/metrics/*'];

/** Everything that a request needs, by the same rules that the server finds its route by; nothing where there is no route. */
export function createRouteNeeds(): (method: string, path: string) => readonly Needed[] {
  const router = new TrieRouter<Needed>();
  for (const [key, needed] of Object.entries(routeAccess)) {
    const [method = '', path = ''] = key.split(' ');
    router.add(method, path, needed);
  }
  return (method, path) => {
    // A HEAD is answered as a GET without its body.
    const [found] = router.match(method === 'HEAD' ? 'GET' : method, path);
    return found.map(([needed]) => needed);
  };
}

/** Throws for a route that the table does not have: the server must not start with it. */
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
