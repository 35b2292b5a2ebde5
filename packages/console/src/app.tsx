import { createClient } from '@signalbox/client';
import { useCallback, useMemo, useState } from 'react';
import { Link } from './frame/link.tsx';
import { Login } from './frame/login.tsx';
import { Empty } from './frame/notices.tsx';
import { ThemeSwitch } from './frame/theme-switch.tsx';
import { usePlace } from './place.ts';
import { RunRoom } from './rooms/run-room.tsx';
import { RunsRoom } from './rooms/runs-room.tsx';
import { dropToken, keepToken, takeToken } from './session.ts';

export function App() {
  const [token, setToken] = useState(takeToken);
  const [isWrong, setIsWrong] = useState(false);
  const client = useMemo(
    () => (token === undefined ? undefined : createClient({ url: location.origin, token })),
    [token],
  );
  const refuse = useCallback(() => {
    dropToken();
    setIsWrong(true);
    setToken(undefined);
  }, []);
  const place = usePlace();

  if (client === undefined) {
    const enter = (given: string) => {
      keepToken(given);
      setToken(given);
    };
    return <Login isWrong={isWrong} onToken={enter} />;
  }
  return (
    <>
      <a href="#main" className="skip">
        Skip to content
      </a>
      <header className="topbar">
        <Link href="/" className="brand">
          <svg width="16" height="22" viewBox="0 0 16 22" aria-hidden="true">
            <rect x="2.5" y="0.5" width="11" height="17" rx="5.5" className="brand-case" />
            <circle cx="8" cy="5.5" r="2.4" className="brand-upper" />
            <circle cx="8" cy="12.5" r="2.4" className="brand-lower" />
            <path d="M8 18v4" className="brand-post" />
          </svg>
          Signalbox
        </Link>
        <nav aria-label="Rooms" className="rooms">
          <Link href="/" aria-current={place.room === 'runs' ? 'page' : undefined}>
            Runs
          </Link>
        </nav>
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1}>
        {place.room === 'runs' && <RunsRoom client={client} onRefused={refuse} />}
        {place.room === 'run' && <RunRoom key={place.run} client={client} run={place.run} onRefused={refuse} />}
        {place.room === 'unknown' && (
          <Empty title="There is no such room">
            <Link href="/">See the runs</Link>
          </Empty>
        )}
      </main>
    </>
  );
}
