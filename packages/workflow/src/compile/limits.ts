/** What a workflow file may hold at most. Everything that is done with a file takes time in proportion to these. */
export const limits = {
  fileBytes: 2 * 1024 * 1024,
  /** How deep a file nests. */
  depth: 64,
  /** How many values (objects, lists, texts, numbers) a file has. */
  values: 100_000,
  /** Steps and loops of a compiled workflow, templates expanded. */
  steps: 1000,
  loopDepth: 8,
  templateDepth: 8,
  maxIterations: 10_000,
  conditionDepth: 32,
  /** UTF-8 bytes of one text after everything is put in. */
  textBytes: 256 * 1024,
  /** UTF-8 bytes of all texts of a compiled workflow. */
  compiledBytes: 8 * 1024 * 1024,
  /** UTF-8 bytes of one referenced snippet, and of all that are put into one step. */
  refBytes: 2048,
  stepRefBytes: 8192,
  /** Characters of what an extension point is bound to. */
  bindingLength: 200,
  /** Problems in one report. */
  problems: 200,
  /** Wrong values that are looked at one by one; a file with more is not looked at further. */
  wrongValues: 1000,
} as const;
