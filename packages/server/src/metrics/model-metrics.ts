import type { RunHost } from '@signalbox/app/host';
import { boundedLabel, boundedModel } from './bounded-label.ts';
import type { MetricShelf } from './metric-shelf.ts';

const CALL_BUCKETS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320];
const WAIT_BUCKETS = [0.1, 0.5, 1, 5, 15, 60, 300, 1800, 7200];
const MOST_PROVIDERS = 20;
const MOST_MODELS = 50;
const MOST_PHASES = 20;

/** Model calls, their tokens and cost, and waits for them, counted since the server started. */
export function modelMetrics(
  shelf: MetricShelf,
  { activity, providers }: Pick<RunHost, 'activity' | 'providers'>,
): () => void {
  const labels = ['provider', 'model'] as const;
  const calls = shelf.counter('model_calls_total', 'Model calls, by how they ended.', [...labels, 'outcome']);
  const duration = shelf.histogram(
    'model_call_duration_seconds',
    'Duration of model calls, from the request to the end of the answer.',
    CALL_BUCKETS,
    labels,
  );
  const input = shelf.counter(
    'model_input_tokens_total',
    'Tokens sent to models, by the phase of the plan that called.',
    [...labels, 'phase'],
  );
  const output = shelf.counter(
    'model_output_tokens_total',
    'Tokens received from models, by the phase of the plan that called.',
    [...labels, 'phase'],
  );
  const cost = shelf.counter('model_cost_usd_total', 'Cost of model calls, in US dollars.', labels);
  const waits = shelf.histogram(
    'model_wait_duration_seconds',
    'How long calls waited for their model to be available or for a free slot.',
    WAIT_BUCKETS,
    labels,
  );
  const modelOf = boundedModel(MOST_PROVIDERS, MOST_MODELS);
  const phaseOf = boundedLabel(MOST_PHASES);

  shelf.gauges('model_calls_waiting', 'Calls that currently wait for their model.', labels, () =>
    providers
      .list()
      .providers.flatMap(({ name, models }) =>
        models.map(({ model, waiting }) => [modelOf({ provider: name, model }), waiting] as const),
      ),
  );
  shelf.gauges('provider_limited', 'Whether a provider currently refuses calls: 1, else 0.', ['provider'], () =>
    providers
      .briefs()
      .map(
        ({ name, health }) =>
          [{ provider: modelOf({ provider: name }).provider }, health === 'limited' ? 1 : 0] as const,
      ),
  );

  return activity.subscribe(fact => {
    switch (fact.kind) {
      case 'call-waited':
        waits.observe({ ...modelOf(fact) }, fact.ms / 1000);
        break;
      case 'call-ended':
        calls.inc({ ...modelOf(fact), outcome: fact.outcome });
        duration.observe({ ...modelOf(fact) }, fact.ms / 1000);
        break;
      case 'spent': {
        const { provider = '', model = '', inputTokens, outputTokens, costMicroUsd } = fact.usage;
        const named = modelOf({ provider, model });
        const phase = phaseOf(fact.phase);
        input.inc({ ...named, phase }, inputTokens);
        output.inc({ ...named, phase }, outputTokens);
        cost.inc({ ...named }, costMicroUsd / 1e6);
        break;
      }
      case 'framed':
        break;
    }
  });
}
