/** Opens a session's live transcript while the component is mounted. */
import { Transcript, type TranscriptSnapshot } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

export interface TranscriptReading extends TranscriptSnapshot {
  readonly loadEarlier: () => Promise<void>
  /** Loads the transcript again after a failure. */
  readonly retry: () => void
}

const empty: TranscriptSnapshot = { entries: [], earlier: 'loading', loaded: false, problem: null }
const subscribeNothing = () => () => {}

export function useTranscript(id: SessionId): TranscriptReading {
  const { inbox } = useGateway()
  const [transcript, setTranscript] = useState<Transcript | null>(null)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: `attempt` triggers a retry
  useEffect(() => {
    const opened = new Transcript(inbox.transcriptOptions(id))
    setTranscript(opened)
    return () => opened.close()
  }, [inbox, id, attempt])
  const snapshot = useSyncExternalStore(
    transcript?.subscribe ?? subscribeNothing,
    transcript?.getSnapshot ?? (() => empty),
  )
  const loadEarlier = useCallback(async () => transcript?.loadEarlier(), [transcript])
  const retry = useCallback(() => setAttempt(count => count + 1), [])
  return { ...snapshot, loadEarlier, retry }
}
