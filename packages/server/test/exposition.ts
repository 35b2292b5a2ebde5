/**
 * A strict reader of the text format of Prometheus 0.0.4. It throws at whatever a scraper might take amiss, and at what the
 * naming conventions advise against.
 */
export interface Family {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const METRIC = /^[a-z][a-z0-9_]*$/;
const VALUE = /^(?:[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]Inf|NaN)$/;

export function readExposition(text: string): readonly Family[] {
  if (!text.endsWith('\n') || text.includes('\r')) fail('lines end with a line feed, the last one too');
  const families: { name: string; help: string; type?: Family['type']; samples: Sample[] }[] = [];
  const series = new Set<string>();
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const family = families.at(-1);
    if (line.startsWith('# HELP ')) {
      const [, name = '', help = ''] = /^# HELP (\S+) (.+)$/.exec(line) ?? fail(line);
      if (families.some(other => other.name === name)) fail(`${name} comes twice`);
      if (!METRIC.test(name) || !name.startsWith('signalbox_')) fail(`${name} is no name`);
      families.push({ name, help, samples: [] });
    } else if (line.startsWith('# TYPE ')) {
      const [, name, type] = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line) ?? fail(line);
      if (family === undefined || family.name !== name || family.type !== undefined) fail(`${line} is out of place`);
      else family.type = type as Family['type'];
    } else if (line.startsWith('#')) {
      fail(line);
    } else {
      const sample = readSample(line);
      if (family?.type === undefined || !belongs(sample.name, family)) fail(`${line} is out of place`);
      const key = JSON.stringify([sample.name, Object.entries(sample.labels).toSorted()]);
      if (series.has(key)) fail(`${line} comes twice`);
      series.add(key);
      family?.samples.push(sample);
    }
  }
  return families.map(family => checked(family as Family));
}

function readSample(line: string): Sample {
  const [, name = '', , labels = '', value = ''] = /^([a-z][a-z0-9_]*)(\{(.*)\})? (\S+)$/.exec(line) ?? fail(line);
  if (!VALUE.test(value)) fail(`${line} has no number`);
  return { name, labels: readLabels(labels, line), value: value === '+Inf' ? Number.POSITIVE_INFINITY : Number(value) };
}

function readLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  const pattern = /([a-z_][a-z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)/y;
  while (pattern.lastIndex < text.length) {
    const [, name = '', value = ''] = pattern.exec(text) ?? fail(`the labels of ${line}`);
    if (name in labels || name.startsWith('__')) fail(`the label ${name} of ${line}`);
    labels[name] = value.replace(/\\(["\\n])/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

function belongs(sample: string, { name, type }: { readonly name: string; readonly type?: Family['type'] }): boolean {
  return type === 'histogram' ? ['_bucket', '_sum', '_count'].some(end => sample === `${name}${end}`) : sample === name;
}

function checked(family: Family): Family {
  const { name, type, help, samples } = family;
  if (type === undefined) fail(`${name} has no type`);
  if (!/[.]$/.test(help)) fail(`the help of ${name} is no sentence`);
  if ((type === 'counter') !== name.endsWith('_total')) fail(`${name}: counters, and only they, end with _total`);
  if (type === 'histogram' && !/_(seconds|bytes)$/.test(name)) fail(`${name} has no unit`);
  if (/_(ms|milliseconds|minutes|count|sum|bucket)(_|$)/.test(name)) fail(`${name} has a unit or an end that is taken`);
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) fail(`${name} counts below nothing`);
  if (type !== 'histogram' && samples.some(({ labels }) => 'le' in labels || 'quantile' in labels)) fail(name);
  if (type === 'histogram') checkHistogram(family);
  return family;
}

function checkHistogram({ name, samples }: Family): void {
  const withoutLe = ({ le: _, ...labels }: Readonly<Record<string, string>>) =>
    JSON.stringify(Object.entries(labels).toSorted());
  for (const [labels, own] of Map.groupBy(samples, sample => withoutLe(sample.labels))) {
    const buckets = own.filter(sample => sample.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le = '' } }) => (le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le)));
    const isRising = (numbers: readonly number[], strictly: boolean) =>
      numbers.every(
        (number, at) => at === 0 || number > (numbers[at - 1] ?? 0) || (!strictly && number === numbers[at - 1]),
      );
    if (!isRising(bounds, true) || bounds.at(-1) !== Number.POSITIVE_INFINITY) fail(`the bounds of ${name}${labels}`);
    if (
      !isRising(
        buckets.map(({ value }) => value),
        false,
      )
    )
      fail(`the buckets of ${name}${labels}`);
    const count = own.filter(sample => sample.name === `${name}_count`);
    const sums = own.filter(sample => sample.name === `${name}_sum`);
    if (count.length !== 1 || sums.length !== 1) fail(`the sum and the count of ${name}${labels}`);
    if (count[0]?.value !== buckets.at(-1)?.value) fail(`the count of ${name}${labels}`);
  }
}

function fail(why: string): never {
  throw new Error(`not an exposition: ${why}`);
}
