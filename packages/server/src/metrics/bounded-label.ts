/** What stands for values that are too many, too long, or not there. */
const OTHER = 'other';

const LONGEST = 80;

/** Every value of a label is a series that is kept for ever: only the first so many are let through as they are. */
export function boundedLabel(most: number): (value: string | undefined) => string {
  const known = new Set<string>();
  return value => {
    if (value === undefined || value === '' || value.length > LONGEST) return OTHER;
    if (known.has(value)) return value;
    if (known.size >= most) return OTHER;
    known.add(value);
    return value;
  };
}

export interface ModelLabels {
  readonly provider: string;
  readonly model: string;
}

/** Models by provider, so many in all: one more is `other` of its provider. */
export function boundedModel(mostProviders: number, mostModels: number): (labels: Partial<ModelLabels>) => ModelLabels {
  const provider = boundedLabel(mostProviders);
  const pair = boundedLabel(mostModels);
  return given => {
    const shown = provider(given.provider);
    const isKnown = shown !== OTHER && Boolean(given.model) && pair(`${shown} ${given.model}`) !== OTHER;
    return { provider: shown, model: isKnown ? (given.model ?? OTHER) : OTHER };
  };
}
