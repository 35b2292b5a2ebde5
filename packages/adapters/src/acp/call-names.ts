/** Gives names to what an agent asks: what is asked, and how often so far (R24). */
export interface CallNames {
  /** `mark` tells names of one place apart. */
  next(place: string, mark?: string): string;
  /** These are not given again: the agent has had their answers. */
  take(names: readonly string[]): void;
}

export function createCallNames(task: string): CallNames {
  const taken = new Set<string>();
  return {
    next(place, mark = '') {
      for (let number = 1; ; number++) {
        const name = `${task}/acp/${place}/${mark}${number}`;
        if (taken.has(name)) continue;
        taken.add(name);
        return name;
      }
    },
    take(names) {
      for (const name of names) taken.add(name);
    },
  };
}
