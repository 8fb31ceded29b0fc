/** Sends the answer of a card. Validates the answer, ignores a press that began too soon after the card changed, and reports errors. */
import { type Answer, answerProblem, Fault, type Request } from '@holdpoint/protocol'
import { useEffect, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../gateway/error-message.ts'
import { useGateway, useLive } from '../gateway/gateway-context.ts'
import { type Press, pressProblem } from '../shortcuts/press.ts'
import type { CardDraft } from './draft/use-draft.ts'
import { submissionTexts } from './texts.ts'

export interface SubmissionNotice {
  readonly text: string
  readonly isError: boolean
}
export interface AnswerSubmission {
  /** Label of the pressed button while its answer is being sent. */
  readonly sendingLabel: string | null
  /** True while an answer is being sent, after the request is resolved, and while the gateway is unreachable. */
  readonly disabled: boolean
  readonly notice: SubmissionNotice | null
  readonly submit: (label: string, answer: Answer, press: Press) => void
}

export function useAnswerSubmission(
  request: Request,
  { pauseSync, resumeSync }: Pick<CardDraft, 'pauseSync' | 'resumeSync'>,
): AnswerSubmission {
  const { inbox } = useGateway()
  const live = useLive()
  const [sendingLabel, setSendingLabel] = useState<string | null>(null)
  const [notice, setNotice] = useState<SubmissionNotice | null>(null)
  const mountedAt = useRef(Number.POSITIVE_INFINITY)
  useEffect(() => {
    mountedAt.current = performance.now()
  }, [])
  const disabled = sendingLabel !== null || !live || request.status === 'resolved'
  return useMemo(() => {
    const reenable = (next: SubmissionNotice) => {
      setSendingLabel(null)
      resumeSync()
      setNotice(next)
    }
    const submit = (label: string, answer: Answer, press: Press) => {
      if (disabled) return
      const accident = pressProblem(press, mountedAt.current)
      if (accident) return setNotice({ text: submissionTexts[accident], isError: false })
      const problem = answerProblem(request.ask, answer)
      if (problem) return setNotice({ text: submissionTexts.invalid(problem), isError: true })
      setNotice(null)
      setSendingLabel(label)
      pauseSync()
      inbox.answer(request.id, answer).catch((error: unknown) => {
        // The request was resolved in the meantime. The next snapshot replaces this card with a receipt.
        if (error instanceof Fault && error.code === 'already_resolved') return
        reenable({ text: submissionTexts.failed(errorMessage(error)), isError: true })
      })
    }
    return { sendingLabel, disabled, notice, submit }
  }, [inbox, request, disabled, sendingLabel, notice, pauseSync, resumeSync])
}
