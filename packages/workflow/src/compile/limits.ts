/** Limits of a workflow file. Processing time is proportional to them. */
export const limits = {
  fileBytes: 2 * 1024 * 1024,
  /** Maximum nesting depth of a file. */
  depth: 64,
  /** Maximum number of values (objects, lists, texts, numbers) in a file. */
  values: 100_000,
  /** Steps and loops of a compiled workflow, templates expanded. */
  steps: 1000,
  loopDepth: 8,
  templateDepth: 8,
  maxIterations: 10_000,
  conditionDepth: 32,
  /** UTF-8 bytes of one fully expanded text. */
  textBytes: 256 * 1024,
  /** UTF-8 bytes of all texts of a compiled workflow. */
  compiledBytes: 8 * 1024 * 1024,
  /** UTF-8 bytes of one ref, and of all refs in one step. */
  refBytes: 2048,
  stepRefBytes: 8192,
  /** Characters of an extension point's binding. */
  bindingLength: 200,
  /** Problems in one report. */
  problems: 200,
  /** Maximum number of invalid values examined one by one; a file with more is not examined further. */
  wrongValues: 1000,
} as const;
