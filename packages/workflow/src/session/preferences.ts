import * as z from 'zod';
import { type Autonomy, autonomy, type RiskPolicy, riskPolicy } from '../compile/compiled-workflow.ts';

export const preferences = z.strictObject({ autonomy, riskPolicy });
export type Preferences = Readonly<z.infer<typeof preferences>>;

export const preferenceChange = z.discriminatedUnion('key', [
  z.strictObject({ key: z.literal('autonomy'), value: autonomy }),
  z.strictObject({ key: z.literal('riskPolicy'), value: riskPolicy }),
]);
export type PreferenceChange = Readonly<z.infer<typeof preferenceChange>>;

export const modePresets = {
  guided: { autonomy: 'guided', riskPolicy: 'conservative' },
  full_auto_stop_on_user_deps: { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' },
  full_auto_never_stop: { autonomy: 'full_auto_never_stop', riskPolicy: 'conservative' },
} as const satisfies Readonly<Record<Autonomy, Preferences>>;

/** The defaults. */
export const defaultPreferences: Preferences = modePresets.guided;

export function applyChanges(before: Preferences, delta: readonly PreferenceChange[]): Preferences {
  return { ...before, ...Object.fromEntries(delta.map(change => [change.key, change.value])) };
}

type Asked = { readonly autonomy?: Autonomy | undefined; readonly riskPolicy?: RiskPolicy | undefined };

/** Preferences that exceed a workflow's recommendation: later options of a set go further. They are reported, never refused. */
export function exceedsRecommendation(effective: Preferences, recommended: Asked): readonly (keyof Preferences)[] {
  const exceeded: (keyof Preferences)[] = [];
  if (recommended.autonomy !== undefined && rank(autonomy, effective.autonomy) > rank(autonomy, recommended.autonomy)) {
    exceeded.push('autonomy');
  }
  if (
    recommended.riskPolicy !== undefined &&
    rank(riskPolicy, effective.riskPolicy) > rank(riskPolicy, recommended.riskPolicy)
  ) {
    exceeded.push('riskPolicy');
  }
  return exceeded;
}

/** The preferences that a change would loosen. An agent may only tighten them (R21). */
export function loosenedBy(
  before: Preferences,
  { autonomy: asked = before.autonomy, riskPolicy: risk = before.riskPolicy }: Asked,
): readonly (keyof Preferences)[] {
  return exceedsRecommendation({ autonomy: asked, riskPolicy: risk }, before);
}

function rank<T extends string>(order: { readonly options: readonly T[] }, value: T): number {
  return order.options.indexOf(value);
}
