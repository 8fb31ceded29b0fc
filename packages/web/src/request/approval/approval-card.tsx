/** The card of an approval: the content of the request and the buttons to answer. */
import { isDangerous } from '@holdpoint/client'
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import type { Press } from '../../shortcuts/press.ts'
import { type AskCardProps, useCardPanels } from '../card-panel.tsx'
import { CommentingContext, sentComments } from '../comments/line-comments.ts'
import { CommentsNotice, useCommenting } from '../comments/use-commenting.tsx'
import { CardBody, FullyShownProvider, ScrollHint, useFullyShown } from '../fully-shown.tsx'
import { useAnswerChoices } from '../use-answer-choices.ts'
import { defaultAllow } from './allow-button.tsx'
import { ApprovalBody } from './approval-body.tsx'
import { ApprovalFooter } from './approval-footer.tsx'
import '../card-footer.css'

export function ApprovalCard(props: AskCardProps<ApprovalAsk>): ReactNode {
  const { request, ask, submission, cardDraft, focusCard } = props
  const fullyShown = useFullyShown()
  const { edit, note } = useAnswerChoices(request.session)
  const panels = useCardPanels(cardDraft, request.id)
  const commenting = useCommenting(ask, submission, cardDraft)
  const { complete, expand } = fullyShown
  const { draft } = cardDraft
  const actions = useMemo(() => {
    const { label, answer } = defaultAllow(ask, draft, note)
    const allow = (press: Press) => submission.submit(label, answer, press)
    // While another panel is open or an edit is unfinished, the person does not mean to allow the original request.
    const canAllow = panels.current === 'main' && draft.edit === undefined
    return {
      open: () => {
        expand()
        focusCard()
      },
      deny: () => panels.open('deny'),
      allowAnswer: canAllow ? answer : null,
      ...(ask.editable && edit && { edit: () => panels.open('edit') }),
      ...(commenting.toggle && { comment: commenting.toggle }),
      ...(complete && canAllow && !isDangerous(request) && { allow }),
    }
  }, [request, ask, draft, complete, expand, submission, panels, focusCard, edit, note, commenting.toggle])
  useCardActions(request.id, actions)
  return (
    <FullyShownProvider value={fullyShown}>
      <CardBody>
        <CommentingContext value={commenting}>
          <ApprovalBody ask={ask} session={request.session} />
        </CommentingContext>
      </CardBody>
      <footer className="card-footer">
        <ScrollHint fullyShown={fullyShown} action="allow" />
        <CommentsNotice {...{ ask, commenting }} count={sentComments(draft).length} takesNote={note} />
        <ApprovalFooter {...{ request, ask, submission, cardDraft, panels }} fullyShown={complete} />
      </footer>
    </FullyShownProvider>
  )
}
