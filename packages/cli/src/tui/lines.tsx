/** The lines of a frame, as Ink draws them: each has its width already, and at most one of them turns. */
import { Box, Text } from 'ink'
import { useEffect, useState } from 'react'
import type { Style } from '../output/span.ts'
import type { StyledLine } from '../output/width.ts'

const coloured = !process.env.NO_COLOR && process.env.TERM !== 'dumb'
const looks: Readonly<Record<Style, object>> = {
  strong: { bold: true },
  quiet: { dimColor: true },
  waiting: { color: 'yellow' },
  yes: { color: 'green' },
  no: { color: 'red' },
}
const signs = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const turnMs = 120

function Spinner({ says }: { readonly says: string }) {
  const [at, setAt] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setAt(now => (now + 1) % signs.length), turnMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <Text dimColor={coloured}>
      {signs[at]} {says}
    </Text>
  )
}

/** What is under way is told behind the line of that number. */
export interface Busy {
  readonly line: number
  readonly says: string
}

export function Lines({ pieces, busy }: { readonly pieces: readonly StyledLine[]; readonly busy: Busy | null }) {
  return (
    <Box flexDirection="column" flexShrink={0}>
      {pieces.map((piece, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place on the screen
        <Text key={index} wrap="truncate">
          {piece.map((span, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a span is its place in the line
            <Text key={at} {...(span.style && coloured ? looks[span.style] : {})}>
              {span.text}
            </Text>
          ))}
          {busy?.line === index ? <Spinner says={busy.says} /> : piece.length === 0 ? ' ' : ''}
        </Text>
      ))}
    </Box>
  )
}
