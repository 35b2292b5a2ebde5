import { usageError } from '@signalbox/app';
import { readNotifyConfig, sendNotice, thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { reportError, shown } from '../terminal.ts';

interface NotifyFlags extends DataFlags {
  readonly test?: boolean;
}

const HOW = `Configure it in config.json of the data directory:
  { "notify": { "webhook": "https://…", "command": ["/usr/bin/notify-send", "Signalbox"],
                "kinds": ["decision", "failed", "completed"], "quiet": { "from": "22:00", "to": "07:00" } } }`;

export const defineNotify: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Shows how "signalbox serve" tells you that something needs you, failed or completed: by a webhook, which gets a POST with JSON, or by a ' +
        'command, which gets the same JSON on its standard input.',
    )
    .option('--test', 'send a test notice now')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the configuration as JSON')
    .addHelpText('after', `\n${HOW}`)
    .action(async ({ test = false, dataDir, json = false }: NotifyFlags) => {
      const config = readNotifyConfig(askedDataDirectory(dataDir));
      if (!config.ok) {
        reportError(terminal, usageError(`The notices are not configured correctly: ${config.error}.`, HOW), json);
        return end(exitCodes.usage);
      }
      const { webhook, command: program, kinds = ['decision'], quiet } = config.value ?? {};
      if (json) terminal.print(JSON.stringify(config.value ?? {}));
      else {
        // The address of a webhook may hold a secret.
        terminal.print(`webhook  ${webhook === undefined ? 'none' : new URL(webhook).origin}`);
        terminal.print(`command  ${program === undefined ? 'none' : shown(program.join(' '))}`);
        terminal.print(`kinds    ${kinds.join(', ')}`);
        terminal.print(`quiet    ${quiet === undefined ? 'never' : `${quiet.from} to ${quiet.to}`}`);
        if (webhook === undefined && program === undefined) terminal.print(HOW);
      }
      if (!test) return end(exitCodes.done);
      const at = new Date(thisMachine().clock.now()).toISOString();
      const notice = { v: 1, kind: 'test', title: 'Signalbox', text: 'This is a test.', at } as const;
      const faults = await sendNotice(notice, config.value ?? {}, process.env);
      for (const why of faults) terminal.complain(shown(why));
      if (faults.length === 0 && !json) terminal.print('Sent.');
      end(faults.length === 0 ? exitCodes.done : exitCodes.failed);
    });
};
