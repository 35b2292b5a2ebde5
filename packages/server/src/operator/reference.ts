import { failureParts, quoted, toolParts } from '../mcp/reference.ts';
import { operatorInstructions } from './instructions.ts';
import { newsFields, newsNames } from './notifications.ts';
import { operatorResources } from './resources.ts';
import { keptNews, NEWS_FIELD } from './subscriptions.ts';
import { operatorTools } from './tools.ts';

/** `docs/reference/operator-tools.md`: the operator's surface for readers, from the definitions that clients get. */
export function operatorToolsReference(): string {
  return `${[
    '# Operator tools',
    '<!-- Generated from packages/server/src/operator; edits are lost. -->',
    'The tools and resources that an operator client gets at `/mcp` of `signalbox serve`, and from `signalbox mcp --operator`. Every client gets these instructions:',
    quoted(operatorInstructions),
    '## Resources',
    'All of them are JSON. Query parameters (in the braces with a question mark) are optional.',
    [
      '| address | |',
      '|---|---|',
      ...operatorResources.map(({ uri, description }) => `| \`${uri}\` | ${description.replaceAll('|', '\\|')} |`),
    ].join('\n'),
    '## News',
    `With protocol 2025-11-25, subscribe to an address with \`resources/subscribe\`; \`notifications/resources/updated\` reports each commit that changed
the resource. A session is also notified of every commit, from its handshake on:`,
    [
      '| notification | says |',
      '|---|---|',
      ...newsNames.map(
        name =>
          `| \`signalbox.${name}\` | \`execution_id\` ${newsFields[name].map(field => `\`${field}\``).join(' ')} |`,
      ),
      '| `signalbox.events.missed` | `count` of the news that are no longer kept, and `suggestion` |',
    ].join('\n'),
    `A client that lost the stream reconnects with \`Last-Event-ID\` and gets what followed: the last ${keptNews.events} are kept, or ${keptNews.bytes / 1_048_576} MB of them. A session
ends after five minutes without requests or open streams.`,
    `With protocol 2026-07-28, name the addresses in \`resourceSubscriptions\` of \`subscriptions/listen\`, without queries. The change of
\`signalbox://executions/{id}/events\` carries the notifications above that belong to the commit, in \`_meta["${NEWS_FIELD}"]\`.`,
    ...operatorTools.flatMap(toolParts),
    ...failureParts(),
  ].join('\n\n')}\n`;
}
