/** Replaces values that are too many, too long, or absent. */
const OTHER = 'other';

const LONGEST = 80;

/** Bounds the values of a label, since every value is a series that is kept forever: values beyond the limit become `other`. */
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

/** Bounds models by provider: a model beyond the limit becomes `other` of its provider. */
export function boundedModel(mostProviders: number, mostModels: number): (labels: Partial<ModelLabels>) => ModelLabels {
  const provider = boundedLabel(mostProviders);
  const pair = boundedLabel(mostModels);
  return given => {
    const shown = provider(given.provider);
    const isKnown = shown !== OTHER && Boolean(given.model) && pair(`${shown} ${given.model}`) !== OTHER;
    return { provider: shown, model: isKnown ? (given.model ?? OTHER) : OTHER };
  };
}
