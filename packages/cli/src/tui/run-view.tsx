/** One session as it is drawn: the prompt or the text under way, and at most one spinner. */
import { Box, Text } from 'ink'
import { useEffect, useState, useSyncExternalStore } from 'react'
import type { RunModel } from './run-model.ts'
import { Pieces } from './stage.tsx'

const signs = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const turnMs = 120

export function Spinner({ says }: { readonly says: string }) {
  const [at, setAt] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setAt(now => (now + 1) % signs.length), turnMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <Text wrap="truncate" dimColor={!process.env.NO_COLOR}>
      {signs[at]} {says}
    </Text>
  )
}

export function RunView({ model }: { readonly model: RunModel }) {
  const { pieces, busy } = useSyncExternalStore(model.subscribe, model.getSnapshot)
  return (
    <Box flexDirection="column">
      <Pieces pieces={pieces} />
      {busy === null ? null : <Spinner says={busy} />}
    </Box>
  )
}
