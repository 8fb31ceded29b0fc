/** Renders an agent's Markdown from tokens, and never inserts an agent's text as HTML (G9). While the text streams, only the last block is parsed and rendered again. */
import { growBlocks, type MarkdownBlock, readBlocks } from '@holdpoint/client'
import { memo, type ReactNode, useMemo, useRef } from 'react'
import { MarkdownToken } from './markdown-token.tsx'
import { AgentParagraphs } from './prose.tsx'
import { ProseWarnings } from './text-warnings.tsx'
import './markdown.css'

export interface MarkdownProps {
  readonly text: string
  readonly streaming?: boolean
}

export function Markdown({ text, streaming = false }: MarkdownProps): ReactNode {
  // Markdown is not executed, so CRLF needs no visible marker.
  const lines = text.replaceAll('\r\n', '\n')
  const blocks = useBlocks(lines, streaming)
  if (!blocks) return <AgentParagraphs text={lines} />
  return (
    <>
      <div className={`markdown${streaming ? ' streaming' : ''}`} dir="auto">
        {blocks.map((block, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no other key, and only the last one grows
          <MemoBlock key={i} block={block} growing={streaming && i === blocks.length - 1} />
        ))}
      </div>
      <ProseWarnings text={lines} />
    </>
  )
}

function useBlocks(text: string, streaming: boolean): readonly MarkdownBlock[] | null {
  const known = useRef<readonly MarkdownBlock[] | null>(null)
  return useMemo(() => {
    known.current = streaming && known.current ? growBlocks(known.current, text) : readBlocks(text)
    return known.current
  }, [text, streaming])
}

/** Re-renders only if the parsed block changed. Comparing the source of a block is not enough, because link definitions elsewhere can change the meaning of the block. */
const MemoBlock = memo(
  ({ block, growing }: { readonly block: MarkdownBlock; readonly growing: boolean }) => (
    <MarkdownToken token={block} depth={0} isGrowing={growing} />
  ),
  (before, now) => before.block === now.block && before.growing === now.growing,
)
