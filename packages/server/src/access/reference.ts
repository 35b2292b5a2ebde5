import { userRole } from '@signalbox/model';
import {
  agentOfferAccess,
  agentToolAccess,
  type Needed,
  opens,
  operatorResourceAccess,
  operatorToolAccess,
  routeAccess,
  socketAccess,
} from './access-table.ts';

/** `docs/reference/access.md`: the access table for readers. */
export function accessReference(): string {
  return `${[
    '# Access',
    '<!-- Generated from packages/model/src/wire/operations.ts and packages/server/src/access/access-table.ts; edits are lost. -->',
    `Every route, MCP tool, resource and WebSocket message needs a token with a role. A request without a valid token is answered with
401, one whose role is too small with 403; anything not in these tables does not exist.`,
    [
      '| role | may |',
      '|---|---|',
      '| `viewer` | read everything about runs, decisions, artifacts and guided sessions |',
      '| `approver` | also answer decisions |',
      '| `operator` | also start, stop, fork, edit, undo, import and collect |',
      '| `owner` | also manage users and make links to the console |',
      '| `agent` | walk guided workflows at `/mcp/agent`, and nothing else |',
    ].join('\n'),
    `A decision is raised by an agent or a plan, and no role that raises one can answer one. \`signalbox users add NAME --role ROLE [--expires
30d]\` makes a token, \`users rotate\` replaces it and \`users remove\` ends it; sockets, MCP sessions and requests that are open with the old token end
before the command answers, and so do the links and tabs that were made with it. The token of the data directory has the role \`owner\`.`,
    `\`/mcp/turn\` is not in these tables. It is served on a port of its own, only to agents that Signalbox started: its token belongs to one attempt,
opens nothing else, and ends with the attempt. Here it is answered with 404.`,
    ...section('Routes', 'route', routeAccess),
    ...section('Operator tools', 'tool at `/mcp`', operatorToolAccess),
    ...section('Operator resources', 'resource at `/mcp`', operatorResourceAccess),
    ...section('Agent tools', 'tool at `/mcp/agent`', agentToolAccess),
    ...section('Agent prompts and resources', 'at `/mcp/agent`', agentOfferAccess),
    ...section('WebSocket messages', 'message on `/api/ws`', socketAccess),
  ].join('\n\n')}\n`;
}

function section(title: string, what: string, rows: Readonly<Record<string, Needed>>): readonly string[] {
  const roles = userRole.options;
  return [
    `## ${title}`,
    [
      `| ${what} | no token | ${roles.join(' | ')} |`,
      `|---|${':-:|'.repeat(roles.length + 1)}`,
      ...Object.entries(rows).map(([key, needed]) => {
        const cells = [needed === 'no token', ...roles.map(role => opens(role, needed))];
        return `| \`${key}\` | ${cells.map(isOpen => (isOpen ? '✓' : '')).join(' | ')} |`;
      }),
    ].join('\n'),
  ];
}
