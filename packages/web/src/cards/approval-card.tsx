/** May it? What would run, whole, and the ways to answer; a plan is answered in its own words. */
import type { ApprovalAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo } from 'react'
import { useCardActions } from '../habits/card-keys.ts'
import { allowing, allowNoted, allowOnce } from './allow.tsx'
import { ApprovalBody } from './approval-body.tsx'
import { ApprovalFoot } from './approval-foot.tsx'
import type { AskCardProps } from './ask-card.ts'
import { approveWord, PlanFoot } from './plan-foot.tsx'
import { useSteps } from './step.ts'
import { useWhole, WholeProvider } from './whole.tsx'

export function ApprovalCard({ request, ask, hand, drafting, open }: AskCardProps<ApprovalAsk>): ReactNode {
  const whole = useWhole()
  const steps = useSteps(drafting, request.id)
  const { shown, unfold } = whole
  const { mode, note } = drafting.draft
  const plan = ask.plan !== undefined
  const actions = useMemo(() => {
    const answer = allowing({ note: note ?? '', ...(plan && mode && { mode }) })
    const label = plan ? approveWord(answer) : answer.note ? allowNoted : allowOnce
    const allow = () => hand.send(label, answer)
    return {
      open: () => {
        unfold()
        open()
      },
      deny: () => steps.go('deny'),
      ...(ask.editable && { edit: () => steps.go('edit') }),
      // In any other step a yes would be to something else than what stands there: the edited command, a reason why not.
      ...(shown && steps.step === 'first' && !ask.caution?.defaultToNo && { allow }),
    }
  }, [ask, plan, mode, note, shown, unfold, hand, steps, open])
  useCardActions(request.id, actions)
  const Foot = plan ? PlanFoot : ApprovalFoot
  return (
    <WholeProvider value={whole}>
      <ApprovalBody ask={ask} />
      <footer className="card-foot">
        {!shown && <p className={`unseen ${whole.further ? 'further' : ''}`}>Scroll to the end to allow.</p>}
        <Foot {...{ request, ask, hand, drafting, steps, shown }} />
      </footer>
    </WholeProvider>
  )
}
