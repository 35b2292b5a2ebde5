import type { EchoSetup } from '@signalbox/testkit';

/** The task as the echo agent does it: it reads a file, edits it, runs a command that fails, asks a person, and is done. */
export const echoTask: EchoSetup = {
  continues: ['resume'],
  prompts: [
    [
      { do: 'tool', id: 'read', kind: 'read', title: 'Read notes.txt', statuses: ['in_progress', 'completed'] },
      {
        ...{ do: 'ask', id: 'edit', kind: 'edit', title: 'Edit notes.txt', input: { file: 'notes.txt', add: 'three' } },
        allowed: [{ do: 'append', file: 'notes.txt', text: 'three' }],
      },
      { do: 'ask', id: 'run', kind: 'execute', title: 'exit 3', input: { command: 'exit 3' } },
      {
        ...{ do: 'callTool', name: 'request_decision' },
        input: {
          question: 'Which colour?',
          options: [
            { id: 'red', label: 'Red' },
            { id: 'blue', label: 'Blue' },
          ],
        },
      },
      { do: 'say', text: 'Done.' },
    ],
  ],
};
