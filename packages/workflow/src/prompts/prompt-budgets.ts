/** UTF-8 bytes of what a prompt is made of. A text that is cut ends in the marker. */
export const promptBudgets = {
  /** All of it. More than the longest text that compiles, so that an author's own words are never cut. */
  prompt: 384 * 1024,
  /** One value of the context. */
  contextValue: 4096,
  /** Code units of all values that are put into one text. */
  contextValues: 64 * 1024,
  /** One line of the output requirements. */
  requirement: 512,
  functionDefinitions: 8192,
  recap: 8192,
  /** What happened after this place on the branch that is preferred. */
  downstream: 4096,
  /** All other branches, and one of them. */
  branches: 4096,
  branch: 1024,
} as const;

export const MAX_REQUIREMENTS = 5;
