import { Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import { useLive } from '../server/live.tsx';
import { lazyPart } from './lazy-part.ts';
import { LinkBanner } from './notices.tsx';
import { NotifyOffer } from './notify-offer.tsx';
import { Rail } from './rail.tsx';
import { Toasts } from './toasts.tsx';
import { useDoorbell } from './use-doorbell.ts';
import { useKeys } from './use-keys.ts';
import { usePages } from './use-pages.ts';

const Palette = lazyPart(() => import('./palette.tsx').then(({ Palette: component }) => ({ default: component })));
const KeyHelp = lazyPart(() => import('./key-help.tsx').then(({ KeyHelp: component }) => ({ default: component })));

/** The frame of every page: navigation, open decisions, and global keys. */
export function Shell() {
  const { link, decisions, runs } = useLive();
  const pages = usePages();
  const [over, setOver] = useState<'palette' | 'keys'>();
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useDoorbell(decisions, runs);
  useKeys({
    ...Object.fromEntries(pages.map(({ key, go }) => [`g ${key}`, go])),
    '?': () => setOver('keys'),
    '/': () => document.querySelector<HTMLElement>('main [type=search]')?.focus(),
  });
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      // From a search field back to the keys of the page.
      if (event.key === 'Escape' && event.target instanceof HTMLInputElement && event.target.type === 'search') {
        event.target.blur();
      }
      if (event.key !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setOver(before => (before === 'palette' ? undefined : 'palette'));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  return (
    <div className="shell">
      <a href="#main" className="skip">
        Skip to content
      </a>
      <Rail pages={pages} path={path} onPalette={() => setOver('palette')} />
      <main id="main" tabIndex={-1}>
        <LinkBanner link={link} />
        <NotifyOffer waiting={decisions?.length ?? 0} />
        <Outlet />
      </main>
      <Toasts />
      <Suspense>
        {over === 'palette' && <Palette pages={pages} onClose={() => setOver(undefined)} />}
        {over === 'keys' && <KeyHelp pages={pages} onClose={() => setOver(undefined)} />}
      </Suspense>
    </div>
  );
}
