/** One session as it is drawn: the prompt or the text under way, and at most one spinner. */
import { useSyncExternalStore } from 'react'
import { Lines } from '../lines.tsx'
import type { RunModel } from './run-model.ts'

export function RunView({ model }: { readonly model: RunModel }) {
  const { pieces, busy } = useSyncExternalStore(model.subscribe, model.getSnapshot)
  if (busy === null) return <Lines pieces={pieces} busy={null} />
  return <Lines pieces={[...pieces, []]} busy={{ line: pieces.length, says: busy }} />
}
