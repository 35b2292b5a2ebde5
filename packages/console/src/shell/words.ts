/** Every text of the palette, the list of keys, and the notices. */
export const words = {
  palette: 'Commands',
  placeholder: 'Search actions, pages, runs, nodes…',
  noResults: 'No results',
  groups: {
    actions: 'On this page',
    recent: 'Recent',
    pages: 'Pages',
    asks: 'Needs you',
    runs: 'Runs',
    nodes: 'Nodes',
    artifacts: 'Artifacts',
    settings: 'Settings',
  },
  theme: (name: string) => `Theme: ${name}`,
  time: (name: string) => `Times: ${name}`,
  undo: 'Undo',
  dismiss: 'Dismiss',
  keys: 'Keys',
  keyGroups: { everywhere: 'Everywhere', pages: 'Pages', lists: 'Lists', here: 'This page', run: 'A run' },
} as const;
