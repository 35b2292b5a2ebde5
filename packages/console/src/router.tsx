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

const routes = [
  createRoute({
    getParentRoute: at,
    path: '/',
    component: lazyRouteComponent(() => whenServed(() => import('./pages/briefing-page.tsx')), 'BriefingPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/queue',
    validateSearch: (given: Readonly<Record<string, unknown>>): { readonly decision?: string } =>
      typeof given.decision === 'string' ? { decision: given.decision } : {},
    component: lazyRouteComponent(() => whenServed(() => import('./pages/queue-page.tsx')), 'QueuePage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/fleet',
    validateSearch: (given: Readonly<Record<string, unknown>>): { readonly agent?: string } =>
      typeof given.agent === 'string' ? { agent: given.agent } : {},
    component: lazyRouteComponent(() => whenServed(() => import('./pages/fleet-page.tsx')), 'FleetPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/controls',
    validateSearch: (given: Readonly<Record<string, unknown>>): { readonly agent?: string } =>
      typeof given.agent === 'string' ? { agent: given.agent } : {},
    component: lazyRouteComponent(() => whenServed(() => import('./pages/controls-page.tsx')), 'ControlsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/runs',
    validateSearch: runsSearchOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/runs-page.tsx')), 'RunsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/runs/$run',
    validateSearch: runPlaceOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/run-page.tsx')), 'RunPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/compare',
    validateSearch: comparePlaceOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/compare-page.tsx')), 'ComparePage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/find',
    validateSearch: findPlaceOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/find-page.tsx')), 'FindPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/start',
    validateSearch: (given: Readonly<Record<string, unknown>>): { readonly like?: string } =>
      typeof given.like === 'string' ? { like: given.like } : {},
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
    validateSearch: artifactsPlaceOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/artifacts-page.tsx')), 'ArtifactsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/workflows',
    validateSearch: workflowsPlaceOf,
    component: lazyRouteComponent(() => whenServed(() => import('./pages/workflows-page.tsx')), 'WorkflowsPage'),
  }),
  createRoute({
    getParentRoute: at,
    path: '/developer',
    validateSearch: (given: Readonly<Record<string, unknown>>): { readonly run?: string } =>
      typeof given.run === 'string' ? { run: given.run } : {},
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
