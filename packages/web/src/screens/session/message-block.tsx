/** A message in the transcript. An agent's message is rendered as Markdown, a person's as plain text with attachments and delivery state. */
import { type MessageEntry, markdownMax, singleLine, withoutOuterBlankLines } from '@holdpoint/client'
import type { ReactNode } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { clockTime } from '../../text/format-time.ts'
import { Markdown } from '../../text/markdown.tsx'
import { AgentParagraphs } from '../../text/prose.tsx'
import { SentAttachmentTile } from './attachment-tile.tsx'
import { LongText } from './long-text.tsx'
import { messageStates, transcriptTexts } from './texts.ts'
import './message-block.css'

export function MessageBlock({ entry }: { readonly entry: MessageEntry }): ReactNode {
  return entry.role === 'person' ? <PersonMessage entry={entry} /> : <AgentMessage entry={entry} />
}

function AgentMessage({ entry }: { readonly entry: MessageEntry }): ReactNode {
  // Remove empty lines at both ends, because the layout already leaves gaps between messages.
  const text = withoutOuterBlankLines(entry.text)
  return (
    <article className="message agent" aria-label="The agent">
      {text.length > markdownMax ? (
        <LongText name={entry.id} text={text} />
      ) : (
        <Markdown text={text} streaming={entry.streaming} />
      )}
      {!entry.streaming && (
        <p className="message-status agent-time">
          <time dateTime={new Date(entry.at).toISOString()}>{clockTime(entry.at)}</time>
          {entry.partial && ` · ${transcriptTexts.cutOff}`}
        </p>
      )}
    </article>
  )
}

function PersonMessage({ entry }: { readonly entry: MessageEntry }): ReactNode {
  const { me } = useGateway()
  const { by, byId, at, text, attachments = [], state, problem } = entry
  return (
    <article className={`message person ${state ?? ''}`} aria-label={byId === me ? 'You' : 'A person'}>
      <div className="message-bubble">
        {attachments.length > 0 && (
          <ul className="attachments">
            {attachments.map((attachment, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: attachments never change order
              <SentAttachmentTile key={i} attachment={attachment} />
            ))}
          </ul>
        )}
        {text.length > markdownMax ? <LongText name={entry.id} text={text} /> : <AgentParagraphs text={text} />}
      </div>
      <p className="message-status">
        {by !== undefined && byId !== me && (
          <>
            <InlineAgentText text={by} />
            {' · '}
          </>
        )}
        {clockTime(at)}
        {state && messageStates[state] && ` · ${messageStates[state]}`}
        {problem && (
          <>
            {': '}
            <InlineAgentText text={singleLine(problem)} />
          </>
        )}
      </p>
    </article>
  )
}
