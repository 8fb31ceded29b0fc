/** A transcript for as long as it is looked at. */
import type { Transcript, TranscriptSnapshot } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import { useCallback, useEffect, useState, useSyncExternalStore } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'

export interface Reading extends TranscriptSnapshot {
  readonly loadEarlier: () => Promise<void>
  /** Begins anew after a failure. */
  readonly again: () => void
}

const nothing: TranscriptSnapshot = { entries: [], earlier: 'loading', loaded: false, problem: null }
const never = () => () => {}

export function useTranscript(id: SessionId): Reading {
  const { inbox } = useGateway()
  const [transcript, setTranscript] = useState<Transcript | null>(null)
  const [attempt, setAttempt] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another transcript
  useEffect(() => {
    const opened = inbox.transcript(id)
    setTranscript(opened)
    return () => opened.close()
  }, [inbox, id, attempt])
  const snapshot = useSyncExternalStore(transcript?.subscribe ?? never, transcript?.getSnapshot ?? (() => nothing))
  const loadEarlier = useCallback(async () => transcript?.loadEarlier(), [transcript])
  const again = useCallback(() => setAttempt(count => count + 1), [])
  return { ...snapshot, loadEarlier, again }
}
