/** Finds the kinds of answers that the agent of a session supports. */
import { type AnswerChoices, answerChoices } from '@holdpoint/client'
import type { SessionId } from '@holdpoint/protocol'
import { useMemo } from 'react'
import { useInboxPart } from '../gateway/gateway-context.ts'

export function useAnswerChoices(session: SessionId): AnswerChoices {
  const capabilities = useInboxPart(({ sessions }) => sessions.get(session)?.capabilities)
  return useMemo(() => answerChoices(capabilities), [capabilities])
}
