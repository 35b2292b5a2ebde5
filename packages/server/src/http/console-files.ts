import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Handler } from 'hono';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};

/**
 * The console's files, read once. Only files present at the start are served, so no path can lead out of the directory. Paths without a dot
 * are the console's own routes, and all return its one page.
 */
export function consoleFiles(directory: string): Handler {
  const files = new Map<string, { readonly body: Uint8Array<ArrayBuffer>; readonly type: string }>();
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const type = types[path.extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = path.join(entry.parentPath, entry.name);
    const name = path.relative(directory, file).split(path.sep).join('/');
    files.set(`/${name}`, { body: new Uint8Array(readFileSync(file)), type });
  }
  return async (context, next) => {
    const asked = context.req.path;
    const isRoom = !asked.includes('.') && !asked.startsWith('/api/') && asked !== '/api' && !asked.startsWith('/mcp');
    const name = files.has(asked) ? asked : isRoom ? '/index.html' : undefined;
    const file = name === undefined ? undefined : files.get(name);
    if (file === undefined) return next();
    // Asset names are hashes of their content.
    const cache = asked.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    return context.body(file.body, 200, { 'Content-Type': file.type, 'Cache-Control': cache });
  };
}
