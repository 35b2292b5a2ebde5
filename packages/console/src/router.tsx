import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { artifactsPlaceOf } from './artifacts/artifact-thing.ts';
import { comparePlaceOf } from './compare/compare-place.ts';
import { findPlaceOf } from './find/find-place.ts';
import { BrokenPage } from './pages/broken-page.tsx';
import { NoSuchPage } from './pages/no-such-page.tsx';
import { runPlaceOf } from './run/run-place.ts';
import { workflowsPlaceOf } from './sessions/workflows-place.ts';
import { whenServed } from './shell/lazy-part.ts';
import { Empty } from './shell/notices.tsx';
import { Shell } from './shell/shell.tsx';
import { runsSearchOf } from './story/runs-search.ts';

/** Every page of the console. An address holds everything that its page shows, so that it can be saved and shared. */
const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage });
const at = () => root;

type Given = Readonly<Record<string, unknown>>;

/** The router keeps what an address has besides: here nothing but what a page knows arrives at it. */
const only =
  <Place extends object>(placeOf: (given: Given) => Place) =>
  (given: Given): Place => ({
    ...Object.fromEntries(Object.keys(given).map(key => [key, undefined])),
    ...placeOf(given),
  });

function textIn<Key extends string>(given: Given, key: Key): { readonly [K in Key]?: string } {
  const text = given[key];
  return (typeof text === 'string' ? { [key]: text } : {}) as { readonly [K in Key]?: string };
}

const routes = [
  createRoute({
    getParentRoute: at,
    path: '/',
    component: lazyRouteComponent(() => whenServed(() => import('./pages/briefing-page.tsx')), 'BriefingPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/queue',
    validateSearch: only(given => textIn<'decision'>(given, 'decision')),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/queue-page.tsx')), 'QueuePage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/fleet',
    validateSearch: only(given => textIn<'agent'>(given, 'agent')),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/fleet-page.tsx')), 'FleetPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/controls',
    validateSearch: only(given => textIn<'agent'>(given, 'agent')),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/controls-page.tsx')), 'ControlsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/runs',
    validateSearch: only(runsSearchOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/runs-page.tsx')), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/runs/$run',
    validateSearch: only(runPlaceOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/run-page.tsx')), 'RunPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/compare',
    validateSearch: only(comparePlaceOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/compare-page.tsx')), 'ComparePage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/find',
    validateSearch: only(findPlaceOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/find-page.tsx')), 'FindPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/start',
    validateSearch: only(given => textIn<'like'>(given, 'like')),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/start-page.tsx')), 'StartPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/failures',
    component: lazyRouteComponent(() => whenServed(() => import('./pages/failures-page.tsx')), 'FailuresPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/artifacts',
    validateSearch: only(artifactsPlaceOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/artifacts-page.tsx')), 'ArtifactsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/workflows',
    validateSearch: only(workflowsPlaceOf),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/workflows-page.tsx')), 'WorkflowsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/developer',
    validateSearch: only(given => textIn<'run'>(given, 'run')),
    component: lazyRouteComponent(() => whenServed(() => import('./pages/developer-page.tsx')), 'DeveloperPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/settings',
    component: lazyRouteComponent(() => whenServed(() => import('./pages/settings-page.tsx')), 'SettingsPage'),
  }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  defaultErrorComponent: BrokenPage,
  defaultPendingComponent: () => <Empty title="Loading…" />,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
