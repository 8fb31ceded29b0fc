/** Loads several earlier pages of the transcript, for the overview and the search. The number is limited, because a long session has more entries than people want to wait for. */
import { useCallback, useEffect, useRef, useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { clockTime } from '../../text/format-time.ts'
import { coverageTexts } from './texts.ts'
import type { TranscriptReading } from './use-transcript.ts'

const pagesAtOnce = 10

export interface LoadMore {
  /** Says which part of the session is loaded, in words, and whether an earlier part could not be loaded. */
  readonly coverage: string
  readonly isLoading: boolean
  /** Loads more pages; null if everything is loaded. */
  readonly load: (() => void) | null
}

/** While `isActive` is true, loads the first pages without waiting until the person asks for them. */
export function useLoadMore(reading: TranscriptReading, isActive: boolean): LoadMore {
  const { entries, earlier, loaded, loadEarlier } = reading
  const [isLoading, setIsLoading] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const isMounted = useRef(true)
  useEffect(() => {
    isMounted.current = true
    return () => {
      isMounted.current = false
    }
  }, [])
  const load = useCallback(() => {
    const loadPages = async () => {
      for (let page = 0; page < pagesAtOnce && isMounted.current; page++) await loadEarlier()
    }
    setIsLoading(true)
    setProblem(null)
    loadPages()
      .catch((error: unknown) => setProblem(coverageTexts.failed(errorMessage(error))))
      .finally(() => setIsLoading(false))
  }, [loadEarlier])
  const hasStarted = useRef(false)
  useEffect(() => {
    if (!isActive || !loaded || hasStarted.current) return
    hasStarted.current = true
    load()
  }, [isActive, loaded, load])
  const first = entries[0]
  const coverage =
    earlier === 'none' || !first ? coverageTexts.whole : coverageTexts.since(entries.length, clockTime(first.at))
  return {
    coverage: problem === null ? coverage : `${problem} ${coverage}`,
    isLoading,
    load: earlier === 'none' || isLoading ? null : load,
  }
}
