/** Sends a batch of answers, and keeps the answers that failed. */
import { removeLocalDraft } from '@holdpoint/client'
import { useState } from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway } from '../../gateway/gateway-context.ts'
import { submissionTexts } from '../../request/texts.ts'
import { type Press, pressProblem } from '../../shortcuts/press.ts'
import { draftStorage } from '../../storage/draft-storage.ts'
import { dismissToast, showToast } from '../../ui/toast.tsx'
import { answerAll, type BatchAnswer, type BatchOutcome } from './batch-answers.ts'
import { batchTexts, reviewTexts } from './texts.ts'

export type BatchKind = 'allow' | 'deny'

export interface ShownOutcome extends BatchOutcome {
  readonly skipped: string
}

export interface BatchSend {
  readonly sending: BatchKind | null
  /** The result of the last batch if some of its answers failed. */
  readonly outcome: ShownOutcome | null
  readonly closeOutcome: () => void
  /** Resolves to true if all answers were accepted. */
  readonly send: (kind: BatchKind, answers: readonly BatchAnswer[], skipped: string, press: Press) => Promise<boolean>
}

export function useBatchSend(): BatchSend {
  const { call, me } = useGateway()
  const [sending, setSending] = useState<BatchKind | null>(null)
  const [outcome, setOutcome] = useState<ShownOutcome | null>(null)
  const send: BatchSend['send'] = async (kind, answers, skipped, press) => {
    const problem = pressProblem(press)
    if (problem) {
      showToast(problem === 'typed' ? submissionTexts.typed : batchTexts.changed)
      return false
    }
    setSending(kind)
    const result = await answerAll(call, answers, errorMessage)
    setSending(null)
    const failed = new Set(result.failed.map(({ id }) => id))
    // A note was sent with its answer, so its draft is no longer needed.
    for (const { request } of answers) if (!failed.has(request.id)) removeLocalDraft(draftStorage, me, request.id)
    const hasFailures = failed.size > 0
    // If nothing failed, the receipts already show the result.
    setOutcome(hasFailures ? { ...result, skipped } : null)
    if (hasFailures) dismissToast()
    else showToast(`${reviewTexts.answered(result.answered)} ${skipped}`)
    return !hasFailures
  }
  return { sending, outcome, closeOutcome: () => setOutcome(null), send }
}
