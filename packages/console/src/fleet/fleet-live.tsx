import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { useClient } from '../server/client-context.ts';
import { useRead } from '../server/use-read.ts';
import type { AgentDecision } from './fleet-words.ts';

interface FleetLive {
  /** Whether the server has a fleet; undefined until it said so. */
  readonly isThere: boolean | undefined;
  /** Decisions of agents that wait, most urgent first; undefined until read. */
  readonly decisions: readonly AgentDecision[] | undefined;
}

const FleetContext = createContext<FleetLive>({ isThere: undefined, decisions: undefined });

/** Everything that is read of the fleet is under this key, and is read again when the fleet says that something happened. */
export const FLEET = 'fleet';
/** Agents may say thousands of things a second; a person sees a few pictures. */
const REST_MS = 250;
/** Some changes have no message of their own. */
const AGAIN_MS = 3_000;

/** The fleet for every page: whether there is one, what its agents ask, and a bell for all other reads. */
export function FleetProvider({ children }: { readonly children: ReactNode }) {
  const client = useClient();
  const reads = useQueryClient();
  const [isThere, setIsThere] = useState<boolean>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const ring = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        void reads.invalidateQueries({ queryKey: [FLEET] });
      }, REST_MS);
    };
    const watch = client.watch('fleet', news => {
      if (news.kind === 'refused') {
        setIsThere(false);
        watch.close();
      } else if (news.kind === 'fleet') {
        setIsThere(true);
        ring();
      }
    });
    return () => {
      clearTimeout(timer);
      watch.close();
    };
  }, [client, reads]);
  const { data } = useRead([FLEET, 'queue'], () => client.queue(), { isEnabled: isThere === true, keeps: true });
  const live = useMemo(
    (): FleetLive => ({
      isThere,
      decisions: data?.decisions.flatMap(one => (one.from === 'agent' ? [one.decision] : [])),
    }),
    [data, isThere],
  );
  return <FleetContext value={live}>{children}</FleetContext>;
}

export const useFleet = (): FleetLive => useContext(FleetContext);

/** Reads a part of the fleet, and again when something happened to it. */
export function useFleetRead<T>(key: readonly unknown[], read: Parameters<typeof useRead<T>>[1], isEnabled = true) {
  const { isThere } = useFleet();
  return useRead<T>([FLEET, ...key], read, {
    isEnabled: isThere === true && isEnabled,
    keeps: true,
    everyMs: AGAIN_MS,
  });
}

/** The agents, and how to read everything again after an action. */
export function useAgents() {
  const client = useClient();
  const reads = useQueryClient();
  const { data, error } = useFleetRead(['agents'], () => client.fleetAgents());
  return {
    agents: data?.agents,
    error,
    again: () => reads.invalidateQueries({ queryKey: [FLEET] }),
    nameOf: (id: string) => data?.agents.find(agent => agent.id === id)?.name ?? id.slice(-8),
  };
}
