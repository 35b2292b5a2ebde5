import type { Client } from '@signalbox/client';
import { createContext, useContext } from 'react';

export const ClientContext = createContext<Client | undefined>(undefined);

/** The client of the server, from the context. */
export function useClient(): Client {
  const client = useContext(ClientContext);
  if (client === undefined) throw new Error('there is no client around this part of the page');
  return client;
}
