import { createClient } from '@signalbox/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { Login } from './frame/login.tsx';
import { router } from './router.tsx';
import { ClientContext } from './server/client-context.ts';
import { LiveProvider } from './server/live.tsx';
import { createReads } from './server/use-read.ts';
import { dropToken, keepToken, takeToken } from './session.ts';

export function App() {
  const [token, setToken] = useState(takeToken);
  const [isWrong, setIsWrong] = useState(false);
  const server = useMemo(
    () =>
      token === undefined ? undefined : { client: createClient({ url: location.origin, token }), reads: createReads() },
    [token],
  );
  // The address that the server printed may be opened in a tab that is here already: then the page is not loaded anew.
  useEffect(() => {
    const enter = () => {
      const given = takeToken();
      if (given !== undefined) setToken(given);
    };
    addEventListener('hashchange', enter);
    return () => removeEventListener('hashchange', enter);
  }, []);
  const refuse = useCallback(() => {
    dropToken();
    setIsWrong(true);
    setToken(undefined);
  }, []);

  if (server === undefined) {
    const enter = (given: string) => {
      keepToken(given);
      setToken(given);
    };
    return <Login isWrong={isWrong} onToken={enter} />;
  }
  return (
    <QueryClientProvider client={server.reads}>
      <ClientContext value={server.client}>
        <LiveProvider onRefused={refuse}>
          <RouterProvider router={router} />
        </LiveProvider>
      </ClientContext>
    </QueryClientProvider>
  );
}
