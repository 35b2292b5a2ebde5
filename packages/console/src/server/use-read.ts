import type { Answer } from '@signalbox/client';
import type { ErrorEnvelope } from '@signalbox/model';
import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';

/** Whether the answer is final, or read again when its key is invalidated. */
interface ReadOptions {
  readonly isEnabled?: boolean;
  /** Shows the previous answer until the new one arrives. */
  readonly keeps?: boolean;
  /** Reads again after this time while the answer changes by itself. */
  readonly everyMs?: number | undefined;
}

/** Reads from the server. A refusal is the query's error: the envelope. */
export function useRead<T>(
  key: readonly unknown[],
  read: () => Answer<T>,
  { isEnabled = true, keeps = false, everyMs }: ReadOptions = {},
): UseQueryResult<T, ErrorEnvelope> {
  return useQuery<T, ErrorEnvelope>({
    queryKey: key,
    queryFn: () => answered(read()),
    enabled: isEnabled,
    refetchInterval: everyMs ?? false,
    // The type excludes function values, which no answer is.
    ...(keeps && { placeholderData: keepPreviousData as never }),
  });
}

/** The server's answer; throws a refusal, for queries to catch. */
async function answered<T>(answer: Answer<T>): Promise<T> {
  const read = await answer;
  if (!read.ok) throw read.error;
  return read.value;
}

/** Answers stay valid until invalidated: the server reports changes. Only unanswered requests are retried. */
export function createReads(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        retry: (failures, error) => 'code' in error && error.code === 'request/unreachable' && failures < 5,
      },
    },
  });
}
