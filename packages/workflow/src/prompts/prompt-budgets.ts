/** UTF-8 byte budgets of a prompt's parts. A cut text ends in the marker. */
export const promptBudgets = {
  /** The whole prompt. More than the longest text that compiles, so that the author's text is never cut. */
  prompt: 384 * 1024,
  /** One value of the context. */
  contextValue: 4096,
  /** Code units of all values inserted into one text. */
  contextValues: 64 * 1024,
  /** One line of the output requirements. */
  requirement: 512,
  functionDefinitions: 8192,
  recap: 8192,
  /** One artifact in a recap. */
  artifact: 2048,
  /** What happened after this place on the preferred branch. */
  downstream: 4096,
  /** All other branches, and one of them. */
  branches: 4096,
  branch: 1024,
} as const;

export const MAX_REQUIREMENTS = 5;
