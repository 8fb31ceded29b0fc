/** The road of an answer from the press to the broadcast that ends it: what is on its way, what went wrong, and which presses count. */
import { type Answer, answerProblem, Fault, type Request } from '@holdpoint/protocol'
import { useEffect, useMemo, useRef, useState } from 'react'
import { errorMessage } from '../gateway/error-message.ts'
import { useGateway, useLive } from '../gateway/gateway-context.ts'
import { cooldownMs, inCooldown } from '../ui/input-cooldown.ts'
import type { Drafting } from './draft/use-draft.ts'

export interface SubmissionNotice {
  readonly text: string
  readonly bad: boolean
}
export interface AnswerSubmission {
  /** The label of the button that was pressed, while its answer is on its way. */
  readonly pressed: string | null
  /** Nothing can be pressed: an answer is on its way, or the gateway is out of reach. */
  readonly held: boolean
  readonly notice: SubmissionNotice | null
  readonly send: (label: string, answer: Answer) => void
  readonly say: (text: string, bad?: boolean) => void
}

const tooSoon = 'That came too soon after a change here to count. Press again if you mean it.'

export function useAnswerSubmission(
  request: Request,
  { hold, release }: Pick<Drafting, 'hold' | 'release'>,
): AnswerSubmission {
  const { inbox } = useGateway()
  const live = useLive()
  const [pressed, setPressed] = useState<string | null>(null)
  const [notice, setNotice] = useState<SubmissionNotice | null>(null)
  const shownAt = useRef(Number.POSITIVE_INFINITY)
  useEffect(() => {
    shownAt.current = performance.now()
  }, [])
  const held = pressed !== null || !live || request.status === 'resolved'
  return useMemo(() => {
    const say = (text: string, bad = false) => setNotice({ text, bad })
    const giveBack = (text: string, bad: boolean) => {
      setPressed(null)
      release()
      say(text, bad)
    }
    const send = (label: string, answer: Answer) => {
      if (held) return
      if (inCooldown() || performance.now() - shownAt.current < cooldownMs) return say(tooSoon)
      const wrong = answerProblem(request.ask, answer)
      if (wrong) return say(`Not sent: ${wrong}.`, true)
      setNotice(null)
      setPressed(label)
      hold()
      inbox.answer(request.id, answer).then(
        ({ status, needs, endorsements }) => {
          if (status === 'pending') giveBack(`Counted: ${endorsements.length} of ${needs} people.`, false)
        },
        (error: unknown) => {
          // Somebody was faster: the snapshot says who, and folds the card.
          if (error instanceof Fault && error.code === 'already_resolved') return
          giveBack(`Not sent. ${errorMessage(error)} Everything you wrote is still here.`, true)
        },
      )
    }
    return { pressed, held, notice, send, say }
  }, [inbox, request, held, pressed, notice, hold, release])
}
