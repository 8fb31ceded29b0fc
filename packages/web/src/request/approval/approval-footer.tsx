/** The ways to say yes or no to an approval, one step at a time; a plan is answered in its own words. */
import type { ReactNode } from 'react'
import type { CardPanel } from '../card-panel.ts'
import { DenyPanel } from '../deny-panel.tsx'
import { StepButton } from '../shortcut.tsx'
import { AllowButton, type ApprovalPanelProps, defaultAllow } from './allow-button.tsx'
import { EditPanel } from './edit-panel.tsx'
import { NotePanel } from './note-panel.tsx'
import { PlanModeSelect } from './plan-mode-select.tsx'
import { RememberPanel } from './remember-panel.tsx'

const words = {
  approval: { edit: 'Edit…', no: 'Deny', why: 'Why not? The agent reads it and goes on.' },
  plan: {
    edit: 'Edit the plan…',
    no: 'Keep planning',
    why: 'What should the plan do differently? The agent goes on planning with it.',
  },
} as const

export function ApprovalFooter(props: ApprovalPanelProps): ReactNode {
  const { ask, hand, drafting, steps } = props
  const { no, why } = words[ask.plan === undefined ? 'approval' : 'plan']
  switch (steps.step) {
    case 'edit':
      return <EditPanel {...props} />
    case 'note':
      return <NotePanel {...props} />
    case 'always':
      return <RememberPanel {...props} />
    case 'deny':
      return <DenyPanel {...{ hand, drafting, steps }} kind="deny" title={why} label={no} />
    case 'first':
      return <FirstStep {...props} />
  }
}

function FirstStep({ request, ask, hand, drafting, steps, shown }: ApprovalPanelProps): ReactNode {
  const plan = ask.plan !== undefined
  const { edit, no } = words[plan ? 'plan' : 'approval']
  const { label, answer } = defaultAllow(ask, drafting.draft)
  const edited = drafting.draft.edit !== undefined
  const offers = plan || edited || ask.caution?.noRemember ? 0 : (ask.suggestions?.length ?? 0)
  const step = (name: string, to: CardPanel, shortcut?: string, className?: string) => (
    <StepButton label={name} held={hand.held} onGo={() => steps.go(to)} {...{ shortcut, className }} />
  )
  return (
    <>
      <PlanModeSelect {...{ request, ask, hand, drafting }} />
      <div className="actions first">
        <AllowButton {...{ hand, ask, shown, label, answer }} shortcut={edited ? undefined : 'a'} />
        <div className="more-actions">
          {ask.editable && step(edited ? 'Your edit…' : edit, 'edit', 'e')}
          {step(answer.note ? 'Your note…' : 'Add a note…', 'note')}
          {offers > 0 && step('Always…', 'always')}
        </div>
        {step(`${no}…`, 'deny', 'd', 'align-end deny')}
      </div>
    </>
  )
}
