import { hasRunEnded, type RunHost, type Spending } from '@signalbox/app/runs';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';

export interface RunMetrics {
  readonly contentType: string;
  /** In the form that Prometheus reads. */
  text(): Promise<string>;
  close(): void;
}

/**
 * Frames, work and errors are counted as they are committed, since the server started. What models were asked and what that
 * cost is summed from what is stored, so it goes on after a restart.
 */
export function createRunMetrics(host: Pick<RunHost, 'reader' | 'feed' | 'driven'>): RunMetrics {
  const registry = new Registry();
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `signalbox_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string, look: () => number | Promise<number>) =>
    new Gauge({
      name: `signalbox_${name}`,
      help,
      registers,
      async collect() {
        this.set(await look());
      },
    });
  const spent = (name: string, help: string, amount: (spending: Spending) => number) =>
    new Counter({
      name: `signalbox_model_${name}_total`,
      help,
      labelNames: ['provider', 'model'],
      registers,
      async collect() {
        this.reset();
        for (const spending of await host.reader.spending()) {
          const { provider = '', model = '' } = spending;
          this.inc({ provider, model }, amount(spending));
        }
      },
    });

  const frames = counter('frames_total', 'Frames that were committed, by what made them necessary.', ['trigger']);
  const interval = new Histogram({
    name: 'signalbox_frame_interval_seconds',
    help: 'From one frame of a run to its next.',
    buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 300],
    registers,
  });
  const tasks = counter('tasks_ended_total', 'Work that ended, by outcome.', ['outcome']);
  const errors = counter('errors_total', 'Work that failed, by the code of its error.', ['code']);
  const statuses = counter('run_status_changes_total', 'Runs that came to a status.', ['status']);
  gauge('runs_driven', 'Runs that are driven now.', () => host.driven().length);
  gauge('decisions_open', 'Decisions that wait for a person.', async () => {
    const open = await host.reader.decisions({ status: ['open'] });
    return open.length;
  });
  spent('calls', 'Calls of models.', ({ calls }) => calls);
  spent('call_seconds', 'How long calls of models took, together.', ({ wallMs }) => wallMs / 1000);
  spent('input_tokens', 'Tokens that models were given.', ({ inputTokens }) => inputTokens);
  spent('output_tokens', 'Tokens that models gave back.', ({ outputTokens }) => outputTokens);
  spent('cost_usd', 'What models cost, in US dollars.', ({ costMicroUsd }) => costMicroUsd / 1e6);

  const lastFrame = new Map<string, number>();
  const close = host.feed.subscribe('all', ({ run, events }) => {
    for (const { event } of events) {
      if (event.type === 'frame.committed') {
        const at = Date.parse(event.ts);
        const last = lastFrame.get(run);
        frames.inc({ trigger: event.trigger.kind });
        if (last !== undefined) interval.observe((at - last) / 1000);
        lastFrame.set(run, at);
      } else if (event.type === 'task.ended') {
        tasks.inc({ outcome: event.outcome });
        if (event.error !== undefined) errors.inc({ code: event.error.code });
      } else if (event.type === 'run.status') {
        statuses.inc({ status: event.to });
        if (hasRunEnded(event.to)) lastFrame.delete(run);
      }
    }
  });
  return { contentType: registry.contentType, text: () => registry.metrics(), close };
}
