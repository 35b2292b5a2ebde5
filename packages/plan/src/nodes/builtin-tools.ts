/** The tools of the built-in agent, as plans name them. */
export const builtinToolNames: readonly string[] = [
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'glob',
  'grep',
  'run_command',
  'artifact',
];
