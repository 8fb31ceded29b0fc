/** The ways to say yes or no to an approval, one step at a time; a plan is answered in its own words. */
import type { ReactNode } from 'react'
import { Allow, type ApprovalStepProps, plainYes } from './allow.tsx'
import { AlwaysStep } from './always-step.tsx'
import { EditStep } from './edit-step.tsx'
import { IntoMode } from './into-mode.tsx'
import { StepButton } from './key-hint.tsx'
import { NoteStep } from './note-step.tsx'
import { ReasonStep } from './reason-step.tsx'
import type { Step } from './step.ts'

const words = {
  approval: { edit: 'Edit…', no: 'Deny', why: 'Why not? The agent reads it and goes on.' },
  plan: {
    edit: 'Edit the plan…',
    no: 'Keep planning',
    why: 'What should the plan do differently? The agent goes on planning with it.',
  },
} as const

export function ApprovalFoot(props: ApprovalStepProps): ReactNode {
  const { ask, hand, drafting, steps } = props
  const { no, why } = words[ask.plan === undefined ? 'approval' : 'plan']
  switch (steps.step) {
    case 'edit':
      return <EditStep {...props} />
    case 'note':
      return <NoteStep {...props} />
    case 'always':
      return <AlwaysStep {...props} />
    case 'deny':
      return <ReasonStep {...{ hand, drafting, steps }} kind="deny" title={why} label={no} />
    case 'first':
      return <FirstStep {...props} />
  }
}

function FirstStep({ request, ask, hand, drafting, steps, shown }: ApprovalStepProps): ReactNode {
  const plan = ask.plan !== undefined
  const { edit, no } = words[plan ? 'plan' : 'approval']
  const { label, answer } = plainYes(ask, drafting.draft)
  const edited = drafting.draft.edit !== undefined
  const offers = plan || edited || ask.caution?.noRemember ? 0 : (ask.suggestions?.length ?? 0)
  const step = (name: string, to: Step, shortcut?: string, className?: string) => (
    <StepButton label={name} held={hand.held} onGo={() => steps.go(to)} {...{ shortcut, className }} />
  )
  return (
    <>
      <IntoMode {...{ request, ask, hand, drafting }} />
      <div className="actions first">
        <Allow {...{ hand, ask, shown, label, answer }} shortcut={edited ? undefined : 'a'} />
        <div className="more">
          {ask.editable && step(edited ? 'Your edit…' : edit, 'edit', 'e')}
          {step(answer.note ? 'Your note…' : 'Add a note…', 'note')}
          {offers > 0 && step('Always…', 'always')}
        </div>
        {step(`${no}…`, 'deny', 'd', 'apart deny')}
      </div>
    </>
  )
}
