import {
  type Clock,
  type ProviderBrief,
  type ProviderList,
  type ProviderReference,
  type Timestamp,
  timestampOf,
  type WireModel,
  type WireProvider,
} from '@signalbox/model';
import { healthOfModel, healthOfProvider, openWindows } from '@signalbox/runs';
import type { HostActivity } from './host-activity.ts';
import type { CalledModel, RateLimitDesk } from './rate-limit-desk.ts';

/** The providers of models, as their calls since the start of the process show them. */
export interface Providers {
  list(): ProviderList;
  /** In short. */
  briefs(): readonly ProviderBrief[];
  /** Told when what is said in short has changed. Ends when the returned function is called. */
  subscribe(listener: () => void): () => void;
}

export interface ProvidersPorts {
  readonly clock: Clock;
  readonly rateLimits: Pick<RateLimitDesk, 'models'>;
  readonly activity: HostActivity;
  /** Providers that can be called here. */
  readonly references: readonly ProviderReference[];
  /** Takes secrets out of a text. */
  readonly clean?: ((text: string) => string) | undefined;
}

export function createProviders(ports: ProvidersPorts): Providers {
  const { clock, rateLimits, activity, references, clean = text => text } = ports;
  const since = timestampOf(clock);

  const list = () => {
    const now = clock.now();
    const called = Map.groupBy(rateLimits.models(), ({ standing }) => standing.name.provider);
    const known = new Map(references.map(reference => [reference.name, reference]));
    const names = [...new Set([...known.keys(), ...called.keys()])];
    return names.map(name => providerOf(known.get(name) ?? { name }, called.get(name) ?? [], now, clean));
  };
  const briefs = () =>
    list().map(({ name, health, waitsUntil }) => ({ name, health, ...(waitsUntil && { waitsUntil }) }));

  return {
    list: () => ({ since, providers: list() }),
    briefs,
    subscribe(listener) {
      let told = JSON.stringify(briefs());
      return activity.subscribe(fact => {
        if (fact.kind !== 'call-ended') return;
        const now = JSON.stringify(briefs());
        if (now === told) return;
        told = now;
        listener();
      });
    },
  };
}

function providerOf(
  reference: ProviderReference,
  called: readonly CalledModel[],
  now: number,
  clean: (text: string) => string,
): WireProvider {
  const models = called.map(model => modelOf(model, now));
  const byLastUse = called.toSorted((a, b) => (b.standing.lastUsedAt ?? 0) - (a.standing.lastUsedAt ?? 0));
  const lastUsedAt = byLastUse[0]?.standing.lastUsedAt;
  const failed = called
    .filter(({ standing }) => standing.lastError !== undefined)
    .toSorted((a, b) => (b.standing.lastError?.at ?? 0) - (a.standing.lastError?.at ?? 0))[0]?.standing;
  const closed = called.map(model => model.closedUntil ?? 0);
  const waitsUntil = Math.max(0, ...closed);
  return {
    ...reference,
    health: healthOfProvider(models.map(({ health }) => health)),
    ...(waitsUntil > now && { waitsUntil: momentOf(waitsUntil) }),
    models,
    windows: called.flatMap(({ standing }) =>
      openWindows(standing, now).map(({ resetsAt, ...window }) => ({
        model: standing.name.model,
        ...window,
        ...(resetsAt !== undefined && { resetsAt: momentOf(resetsAt) }),
      })),
    ),
    failuresInRow: Math.max(0, ...models.map(({ failuresInRow }) => failuresInRow)),
    ...(failed?.lastError && {
      lastError: {
        at: momentOf(failed.lastError.at),
        model: failed.name.model,
        code: failed.lastError.code,
        message: clean(failed.lastError.message),
      },
    }),
    ...(lastUsedAt !== undefined && { lastUsedAt: momentOf(lastUsedAt) }),
  };
}

function modelOf({ standing, closedUntil, waiting }: CalledModel, now: number): WireModel {
  const { name, calls, failuresInRow, lastUsedAt } = standing;
  return {
    model: name.model,
    health: healthOfModel(standing, closedUntil, now),
    ...(closedUntil !== undefined && { waitsUntil: momentOf(closedUntil) }),
    calls,
    waiting,
    failuresInRow,
    ...(lastUsedAt !== undefined && { lastUsedAt: momentOf(lastUsedAt) }),
  };
}

const momentOf = (ms: number): Timestamp => timestampOf({ now: () => ms });
