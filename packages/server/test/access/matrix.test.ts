import type { ClientMessage, UserRole } from '@signalbox/model';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  agentOfferAccess,
  agentToolAccess,
  type Needed,
  operatorResourceAccess,
  operatorToolAccess,
  routeAccess,
  socketAccess,
} from '../../src/access/access-table.ts';
import { operatorResources } from '../../src/operator/resources.ts';
import { UNKNOWN } from '../http-asker.ts';
import { liveClient } from '../live-client.ts';
import { type AccessStage, accessStage, type Caller } from './access-stage.ts';

/** The rights of each role, written out: the table has the required role, this list has who includes it. */
const reach: Readonly<Record<UserRole, readonly Needed[]>> = {
  viewer: ['viewer'],
  approver: ['viewer', 'approver'],
  operator: ['viewer', 'approver', 'operator'],
  owner: ['viewer', 'approver', 'operator', 'owner'],
  agent: ['agent'],
};
type Cell = 'open' | 'unauthorized' | 'forbidden';

function expected({ role }: Caller, ...needs: readonly Needed[]): Cell {
  if (needs.every(needed => needed === 'no token')) return 'open';
  if (role === undefined) return 'unauthorized';
  return needs.every(needed => reach[role].includes(needed)) ? 'open' : 'forbidden';
}

let stage: AccessStage;
beforeAll(async () => {
  stage = await accessStage();
});
afterAll(() => stage.close());

/** One row of the table for everybody who may try. */
async function row(tryCell: (caller: Caller) => Promise<Cell>, ...needs: readonly Needed[]): Promise<void> {
  const found = await Promise.all(stage.callers.map(async caller => [caller.who, await tryCell(caller)]));
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries(stage.callers.map(caller => [caller.who, expected(caller, ...needs)])),
  );
}

const bearer = ({ token }: Caller): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const cellOf = (status: number): Cell => (status === 401 ? 'unauthorized' : status === 403 ? 'forbidden' : 'open');

describe('routes', () => {
  const rows = Object.entries(routeAccess).flatMap(([key, needed]) => {
    const [method = '', path = ''] = key.split(' ');
    const methods = method === 'ALL' ? ['GET', 'POST', 'DELETE', 'PUT'] : method === 'GET' ? ['GET', 'HEAD'] : [method];
    return methods.map(each => [each, path, needed] as const);
  });

  it.each(rows)('[V181] [V182] %s %s is open to exactly those with the role %s', async (method, path, needed) => {
    const address = `${stage.server.url}${path.replace(/:\w+/g, UNKNOWN)}`;
    await row(async caller => {
      const body = ['GET', 'HEAD'].includes(method) ? {} : { body: '{}' };
      const headers = { ...bearer(caller), 'content-type': 'application/json' };
      const answer = await fetch(address, { method, headers, ...body });
      await answer.arrayBuffer();
      return cellOf(answer.status);
    }, needed);
  });

  it.each([
    ['GET', '/api/no-such-route'],
    ['PUT', '/api/runs'],
    ['GET', '/api'],
    ['GET', '/api/users/'],
    ['GET', '//api/users'],
    ['POST', '/mcp/turn'],
    ['POST', '/mcp/agent/'],
    ['POST', '/metrics'],
  ])('[V180] %s %s, which no row has, is open to nobody', async (method, path) => {
    for (const caller of stage.callers) {
      const answer = await fetch(`${stage.server.url}${path}`, { method, headers: bearer(caller) });
      await answer.arrayBuffer();
      expect([401, 404], caller.who).toContain(answer.status);
    }
  });
});

/** Calls a method at an MCP surface; every request stands for itself. */
async function mcpCell(caller: Caller, place: string, method: string, params: object): Promise<Cell> {
  const answer = await fetch(`${stage.server.url}${place}`, {
    method: 'POST',
    headers: {
      ...bearer(caller),
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  const text = await answer.text();
  if (answer.status !== 200) return cellOf(answer.status);
  // Any answer counts, as long as it is to this request.
  expect(text).toContain('"id":1');
  return /"code\\?":\\?"request\/forbidden/.test(text) ? 'forbidden' : 'open';
}

describe('tools and resources', () => {
  it.each(Object.entries(operatorToolAccess))(
    '[V181] %s at /mcp is open to exactly those with the role %s',
    (name, needed) =>
      row(caller => mcpCell(caller, '/mcp', 'tools/call', { name, arguments: {} }), routeAccess['ALL /mcp'], needed),
  );

  it.each(Object.entries(agentToolAccess))(
    '[V181] [V182] %s at /mcp/agent is open to exactly those with the role %s',
    (name, needed) =>
      row(
        caller => mcpCell(caller, '/mcp/agent', 'tools/call', { name, arguments: {} }),
        routeAccess['ALL /mcp/agent'],
        needed,
      ),
  );

  const offers = {
    prompts: ['prompts/get', { name: 'test.two_steps' }],
    step: ['resources/read', { uri: `signalbox://guided/${UNKNOWN}/step` }],
    recap: ['resources/read', { uri: `signalbox://guided/${UNKNOWN}/recap` }],
  } as const satisfies Record<keyof typeof agentOfferAccess, readonly [string, object]>;

  it.each(Object.entries(agentOfferAccess))(
    '[V181] [V182] %s at /mcp/agent are open to exactly those with the role %s',
    (name, needed) => {
      const [method, params] = offers[name as keyof typeof offers];
      return row(caller => mcpCell(caller, '/mcp/agent', method, params), routeAccess['ALL /mcp/agent'], needed);
    },
  );

  it.each(Object.entries(operatorResourceAccess))(
    '[V181] the resource %s is open to exactly those with the role %s',
    (key, needed) => {
      const resource = operatorResources.find(({ name }) => name === key.replace('?file', ''));
      const plain = resource?.uri.replace(/\{\?.*$/, '').replace(/\{\w+\}/g, UNKNOWN);
      const uri = key.endsWith('?file') ? `${plain}?file=plan.tsx` : plain;
      return row(caller => mcpCell(caller, '/mcp', 'resources/read', { uri }), routeAccess['ALL /mcp'], needed);
    },
  );

  it.each(['tools/list', 'resources/list', 'resources/templates/list'])('[V181] %s needs what /mcp needs', method =>
    row(caller => mcpCell(caller, '/mcp', method, {}), routeAccess['ALL /mcp']),
  );
});

describe('socket messages', () => {
  const messages: Readonly<Record<keyof typeof socketAccess, ClientMessage | undefined>> = {
    hello: undefined,
    'subscribe to all runs': { kind: 'subscribe', run: 'all' },
    'subscribe to the fleet': { kind: 'subscribe', run: 'fleet' },
    'subscribe to a run': { kind: 'subscribe', run: UNKNOWN as never },
    unsubscribe: { kind: 'unsubscribe', run: 'all' },
  };

  it.each(Object.entries(socketAccess))('[V181] %s is open to exactly those with the role %s', async (key, needed) => {
    for (const caller of stage.callers) {
      const client = await liveClient(stage.server.url);
      client.say({ kind: 'hello', token: caller.token ?? '' });
      const isIn = await Promise.race([client.first('welcome').then(() => true), client.closed.then(() => false)]);
      const message = messages[key as keyof typeof socketAccess];
      const isRefused =
        isIn &&
        message !== undefined &&
        // A message that is not understood is answered in its turn, so that what was not refused before it was taken.
        (await (async () => {
          client.say(message);
          client.say({ kind: 'nonsense' });
          await client.until(received =>
            received.some(each => each.kind === 'refused' && each.error.code === 'VALIDATION_ERROR'),
          );
          return client.received.some(each => each.kind === 'refused' && each.error.code === 'request/forbidden');
        })());
      const isOpen = expected(caller, socketAccess.hello, needed) === 'open';
      expect([caller.who, isIn && !isRefused]).toEqual([caller.who, isOpen]);
      if (!isIn) {
        expect([await client.closed, client.received]).toEqual([4401, []]);
      }
      client.close();
      await client.closed;
    }
  });
});
