import type { Identity } from '../access/identity.ts';
import type { OpenDoors } from '../access/open-doors.ts';
import type { McpHttp } from './mcp-http.ts';

/** An MCP surface whose sessions belong to one token each: no other token can use them, and they end with it. */
export interface McpByToken {
  route(request: Request, identity: Identity): Promise<Response>;
  close(): Promise<void>;
}

export function mcpByToken(newSurface: (identity: Identity) => McpHttp, doors: OpenDoors): McpByToken {
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
    // Async, so that synchronous exceptions also become rejections.
    route: async (request, identity) => surfaceOf(identity).route(request),
    async close() {
      for (const surface of surfaces.values()) await surface.close();
    },
  };
}
