/** The card of an approval: the content of the request and the buttons to answer. */
import { isDangerous } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import type { Press } from '../../shortcuts/press.ts'
import { type AskCardProps, useCardPanels } from '../card-panel.tsx'
import { CardBody, FullyShownProvider, ScrollHint, useFullyShown } from '../fully-shown.tsx'
import { useAnswerChoices } from '../use-answer-choices.ts'
import { defaultAllow } from './allow-button.tsx'
import { ApprovalBody } from './approval-body.tsx'
import { ApprovalFooter } from './approval-footer.tsx'
import '../card-footer.css'

export function ApprovalCard(props: AskCardProps<ApprovalAsk>): ReactNode {
  const { request, ask, submission, cardDraft, focusCard } = props
  const fullyShown = useFullyShown()
  const { edit } = useAnswerChoices(request.session)
  const panels = useCardPanels(cardDraft, request.id)
  const { complete, expand } = fullyShown
  const { draft } = cardDraft
  const actions = useMemo(() => {
    const { label, answer } = defaultAllow(ask, draft)
    const allow = (press: Press) => submission.submit(label, answer, press)
    // A person who has another panel open or an unfinished edit does not mean to allow the original request.
    const canAllow = panels.current === 'main' && draft.edit === undefined
    return {
      open: () => {
        expand()
        focusCard()
      },
      deny: () => panels.open('deny'),
      allowAnswer: canAllow ? answer : null,
      ...(ask.editable && edit && { edit: () => panels.open('edit') }),
      ...(complete && canAllow && !isDangerous(request) && { allow }),
    }
  }, [request, ask, draft, complete, expand, submission, panels, focusCard, edit])
  useCardActions(request.id, actions)
  return (
    <FullyShownProvider value={fullyShown}>
      <CardBody>
        <ApprovalBody ask={ask} session={request.session} />
      </CardBody>
      <footer className="card-footer">
        <ScrollHint fullyShown={fullyShown} action="allow" />
        <ApprovalFooter {...{ request, ask, submission, cardDraft, panels }} fullyShown={complete} />
      </footer>
    </FullyShownProvider>
  )
}
