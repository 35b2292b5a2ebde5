import type { ErrorEnvelope, SessionList } from '@signalbox/model';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useClient } from '../server/client-context.ts';

const AGAIN_MS = 5_000;

/** Any process may write session files, so they are polled. */
export function useSessions(): UseQueryResult<SessionList, ErrorEnvelope> {
  const client = useClient();
  return useQuery<SessionList, ErrorEnvelope>({
    queryKey: ['sessions'],
    queryFn: async () => {
      const read = await client.sessions();
      if (!read.ok) throw read.error;
      return read.value;
    },
    retry: false,
    refetchInterval: ({ state }) => (state.error?.code === 'request/unknown-route' ? false : AGAIN_MS),
  });
}
