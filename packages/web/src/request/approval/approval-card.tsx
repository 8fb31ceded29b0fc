/** May it? What would run, whole, and the ways to answer. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import type { AskCardProps } from '../ask-card.ts'
import { useCardPanels } from '../card-panel.ts'
import { CardBody, FullyShownProvider, ScrollHint, useFullyShown } from '../fully-shown.tsx'
import { defaultAllow } from './allow-button.tsx'
import { ApprovalBody } from './approval-body.tsx'
import { ApprovalFooter } from './approval-footer.tsx'
import '../card-footer.css'

export function ApprovalCard({ request, ask, hand, drafting, open }: AskCardProps<ApprovalAsk>): ReactNode {
  const whole = useFullyShown()
  const steps = useCardPanels(drafting, request.id)
  const { shown, unfold } = whole
  const { draft } = drafting
  const actions = useMemo(() => {
    const { label, answer } = defaultAllow(ask, draft)
    const allow = () => hand.send(label, answer)
    // In any other step a yes would be to something else than what stands there: the edited command, a reason why not. Nor is an edit passed over.
    const plain = steps.step === 'first' && draft.edit === undefined
    return {
      open: () => {
        unfold()
        open()
      },
      deny: () => steps.go('deny'),
      yes: plain ? answer : null,
      ...(ask.editable && { edit: () => steps.go('edit') }),
      ...(shown && plain && !ask.caution?.defaultToNo && { allow }),
    }
  }, [ask, draft, shown, unfold, hand, steps, open])
  useCardActions(request.id, actions)
  return (
    <FullyShownProvider value={whole}>
      <CardBody>
        <ApprovalBody ask={ask} />
      </CardBody>
      <footer className="card-footer">
        <ScrollHint whole={whole} deed="allow" />
        <ApprovalFooter {...{ request, ask, hand, drafting, steps, shown }} />
      </footer>
    </FullyShownProvider>
  )
}
