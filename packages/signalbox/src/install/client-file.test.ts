import { describe, expect, it } from 'vitest';
import { changedFile, entryText } from './client-file.ts';
import { type McpClientName, type McpTarget, mcpClients } from './mcp-clients.ts';

const stdio: McpTarget = { kind: 'stdio', command: '/bin/node', args: ['/x/main.js', 'mcp'] };
const http: McpTarget = { kind: 'http', url: 'http://127.0.0.1:4280/mcp/agent', tokenVariable: 'AGENT_TOKEN' };
const names = Object.keys(mcpClients) as McpClientName[];

function changed(name: McpClientName, before: string | undefined, target: McpTarget | undefined): string {
  const client = mcpClients[name];
  const done = changedFile(client, before, target && client.entry(target));
  if ('unreadable' in done) throw new Error(done.unreadable);
  return done.text;
}

describe('[X86] the configuration of a client', () => {
  it.each(names)('%s gets the entry beside others, once, and loses only it again', name => {
    const client = mcpClients[name];
    const other =
      client.format === 'toml'
        ? 'model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "other"\n'
        : `${JSON.stringify({ theme: 'dark', [client.member]: { other: { command: 'other' } } }, null, 2)}\n`;
    const once = changed(name, other, stdio);
    expect(once).toContain('/x/main.js');
    expect(once).toContain('other');
    expect(changed(name, once, stdio)).toBe(once);
    expect(changed(name, once, undefined)).toBe(other);
    expect(changed(name, undefined, stdio)).toContain(entryText(client, client.entry(stdio) ?? {}).slice(1, 20));
  });

  it.each(names)('%s has the token of a server by the name of its variable, or is refused', name => {
    const entry = JSON.stringify(mcpClients[name].entry(http) ?? null);
    expect(entry === 'null' || (entry.includes('AGENT_TOKEN') && entry.includes(http.url))).toBe(true);
  });

  it('is left alone if it cannot be read without losing something', () => {
    for (const before of ['{ // mine\n}', '[]', '{"mcpServers":[]}']) {
      expect(changedFile(mcpClients.claude, before, {})).toHaveProperty('unreadable');
    }
  });
});
