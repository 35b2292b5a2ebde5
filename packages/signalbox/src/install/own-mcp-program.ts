import path from 'node:path';

/** The program that is running now, by its whole path: a client has another PATH. One that npx fetched goes away, so npx is named. */
export function ownMcpProgram(): readonly string[] {
  const script = path.resolve(process.argv[1] ?? '');
  return script.includes(`${path.sep}_npx${path.sep}`)
    ? ['npx', '-y', 'signalbox', 'mcp']
    : [process.execPath, script, 'mcp'];
}
