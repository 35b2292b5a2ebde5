import type { Answer } from '@signalbox/client';
import type { ErrorEnvelope } from '@signalbox/model';
import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';

/** Whether what is read stays as it is once read, or is read again when its key is invalidated. */
interface ReadOptions {
  readonly isEnabled?: boolean;
  /** Shows what was there before until the new is read. */
  readonly keeps?: boolean;
}

/** Reads from the server. A refusal is the query's error: the envelope. */
export function useRead<T>(
  key: readonly unknown[],
  read: () => Answer<T>,
  { isEnabled = true, keeps = false }: ReadOptions = {},
): UseQueryResult<T, ErrorEnvelope> {
  return useQuery<T, ErrorEnvelope>({
    queryKey: key,
    queryFn: () => answered(read()),
    enabled: isEnabled,
    // Its type excludes values that are functions, which no answer is.
    ...(keeps && { placeholderData: keepPreviousData as never }),
  });
}

/** What the server answered; a refusal is thrown, for whoever catches queries. */
async function answered<T>(answer: Answer<T>): Promise<T> {
  const read = await answer;
  if (!read.ok) throw read.error;
  return read.value;
}

/** What is read is right until something says otherwise: the server tells what changes. Only what it did not answer is asked again. */
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
