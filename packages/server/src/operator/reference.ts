import { failureParts, quoted, toolParts } from '../mcp/reference.ts';
import { operatorInstructions } from './instructions.ts';
import { newsFields, newsNames } from './notifications.ts';
import { operatorResources } from './resources.ts';
import { keptNews, NEWS_FIELD } from './subscriptions.ts';
import { operatorTools } from './tools.ts';

/** `docs/reference/operator-tools.md`: the operator's surface as people read it, from the definitions that programs get. */
export function operatorToolsReference(): string {
  return `${[
    '# The tools of operators',
    '<!-- Generated from packages/server/src/operator; edits are lost. -->',
    'What a program of an operator gets at `/mcp` of `signalbox serve`, and from `signalbox mcp --operator`. This is what every client is told:',
    quoted(operatorInstructions),
    '## Resources',
    'All of them are JSON. What stands in the braces with a question mark may be left out.',
    [
      '| address | |',
      '|---|---|',
      ...operatorResources.map(({ uri, description }) => `| \`${uri}\` | ${description.replaceAll('|', '\\|')} |`),
    ].join('\n'),
    '## News',
    `With protocol 2025-11-25, \`resources/subscribe\` to an address, and \`notifications/resources/updated\` tells of each commit that changed what
is there. Without asking, a session also hears of everything that is committed, from its handshake on:`,
    [
      '| notification | says |',
      '|---|---|',
      ...newsNames.map(
        name =>
          `| \`signalbox.${name}\` | \`execution_id\` ${newsFields[name].map(field => `\`${field}\``).join(' ')} |`,
      ),
      '| `signalbox.events.missed` | `count` of the news that are not kept any more, and `suggestion` |',
    ].join('\n'),
    `Who lost the stream asks for it again with \`Last-Event-ID\` and gets what followed: the last ${keptNews.events} are kept, or ${keptNews.bytes / 1_048_576} MB of them. A session
ends when nothing is asked or open in it for five minutes.`,
    `With protocol 2026-07-28, name the addresses in \`resourceSubscriptions\` of \`subscriptions/listen\`, without queries. The change of
\`signalbox://executions/{id}/events\` carries the notifications above that belong to the commit, in \`_meta["${NEWS_FIELD}"]\`.`,
    ...operatorTools.flatMap(toolParts),
    ...failureParts(),
  ].join('\n\n')}\n`;
}
