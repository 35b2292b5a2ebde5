import { createClient, logIn } from '@signalbox/client';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { FleetProvider } from './fleet/fleet-live.tsx';
import { router } from './router.tsx';
import { ClientContext } from './server/client-context.ts';
import { LiveProvider } from './server/live.tsx';
import { createReads } from './server/use-read.ts';
import { dropToken, hasCode, keepToken, takeCode, takeToken } from './session.ts';
import { Login } from './shell/login.tsx';

const WRONG_TOKEN =
  'The server does not know this token. It may have been replaced or removed, or belong to another data directory.';

export function App() {
  const [token, setToken] = useState(takeToken);
  const [isEntering, setIsEntering] = useState(hasCode);
  const [problem, setProblem] = useState<string>();
  const server = useMemo(
    () =>
      token === undefined ? undefined : { client: createClient({ url: location.origin, token }), reads: createReads() },
    [token],
  );
  const enter = useCallback((given: string) => {
    keepToken(given);
    setProblem(undefined);
    setToken(given);
  }, []);
  // A link may be opened in a tab that already shows the console; then the page does not load again.
  useEffect(() => {
    const arrive = async () => {
      const code = takeCode();
      const given = code === undefined ? takeToken() : undefined;
      if (given !== undefined) setToken(given);
      if (code === undefined) return;
      const taken = await logIn(location.origin, code);
      if (taken.ok) enter(taken.value.token);
      else setProblem(`${taken.error.message} ${taken.error.suggestion}`);
      setIsEntering(false);
    };
    void arrive();
    const look = () => void arrive();
    addEventListener('hashchange', look);
    return () => removeEventListener('hashchange', look);
  }, [enter]);
  const refuse = useCallback(() => {
    dropToken();
    setProblem(WRONG_TOKEN);
    setToken(undefined);
  }, []);

  if (isEntering) return null;
  if (server === undefined) return <Login problem={problem} onToken={enter} />;
  return (
    <QueryClientProvider client={server.reads}>
      <ClientContext value={server.client}>
        <LiveProvider onRefused={refuse}>
          <FleetProvider>
            <RouterProvider router={router} />
          </FleetProvider>
        </LiveProvider>
      </ClientContext>
    </QueryClientProvider>
  );
}
