import type { Access } from '../access/access.ts';
import type { Identity } from '../access/identity.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import type { McpHttp } from './mcp-http.ts';
import { heardWhile } from './watched-response.ts';

/** An MCP surface with sessions of each token's own: nobody can use a session of somebody else, and they end with their token. */
export interface McpByToken {
  route(request: Request, identity: Identity): Promise<Response>;
  close(): Promise<void>;
}

export function mcpByToken(
  newSurface: (identity: Identity) => McpHttp,
  doors: OpenDoors,
  { isCurrent }: Pick<Access, 'isCurrent'>,
): McpByToken {
  const surfaces = new Map<string, McpHttp>();

  function surfaceOf(identity: Identity): McpHttp {
    const { tokenId } = identity;
    const known = surfaces.get(tokenId);
    if (known !== undefined) return known;
    const surface = newSurface(identity);
    surfaces.set(tokenId, surface);
    doors.hold({
      identity,
      end() {
        surfaces.delete(tokenId);
        return surface.close();
      },
    });
    return surface;
  }

  return {
    // A promise also for what is thrown at once.
    route: async (request, identity) => {
      const response = await surfaceOf(identity).route(request);
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
      const canExpire = identity.expiresAt !== undefined;
      return isStream && canExpire ? heardWhile(response, () => isCurrent(identity)) : response;
    },
    async close() {
      for (const surface of surfaces.values()) await surface.close();
    },
  };
}
