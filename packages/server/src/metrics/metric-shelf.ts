import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Creates metrics in one registry, all with the product's prefix. */
export interface MetricShelf {
  readonly registry: Registry;
  counter<Label extends string>(name: string, help: string, labels?: readonly Label[]): Counter<Label>;
  histogram<Label extends string>(
    name: string,
    help: string,
    buckets: readonly number[],
    labels?: readonly Label[],
  ): Histogram<Label>;
  /** Read at each scrape. */
  gauge(name: string, help: string, look: () => number | Promise<number>): void;
  /** Like `gauge`, with one value for each current label value. */
  gauges<Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    look: () => Iterable<readonly [Readonly<Record<Label, string>>, number]>,
  ): void;
}

export function createMetricShelf(): MetricShelf {
  const registry = new Registry();
  const common = <Label extends string>(name: string, help: string, labels: readonly Label[]) => ({
    name: `signalbox_${name}`,
    help,
    labelNames: labels,
    registers: [registry],
  });
  return {
    registry,
    counter: (name, help, labels = []) => new Counter(common(name, help, labels)),
    histogram: (name, help, buckets, labels = []) =>
      new Histogram({ ...common(name, help, labels), buckets: [...buckets] }),
    gauge(name, help, look) {
      new Gauge({
        ...common(name, help, []),
        async collect() {
          this.set(await look());
        },
      });
    },
    gauges<Label extends string>(
      name: string,
      help: string,
      labels: readonly Label[],
      look: () => Iterable<readonly [Readonly<Record<Label, string>>, number]>,
    ) {
      new Gauge({
        ...common(name, help, labels),
        collect() {
          this.reset();
          for (const [values, value] of look()) this.inc(values, value);
        },
      });
    },
  };
}
