/** The ways to say yes or no to an approval, one step at a time. */
import type { ReactNode } from 'react'
import { Allow, type ApprovalStepProps, allowing, allowNoted, allowOnce } from './allow.tsx'
import { AlwaysStep } from './always-step.tsx'
import { EditStep } from './edit-step.tsx'
import { StepButton } from './key-hint.tsx'
import { NoteStep } from './note-step.tsx'
import { ReasonStep } from './reason-step.tsx'

export function ApprovalFoot(props: ApprovalStepProps): ReactNode {
  const { hand, drafting, steps } = props
  switch (steps.step) {
    case 'edit':
      return <EditStep {...props} />
    case 'note':
      return <NoteStep {...props} />
    case 'always':
      return <AlwaysStep {...props} />
    case 'deny':
      return (
        <ReasonStep
          hand={hand}
          kind="deny"
          title="Why not? The agent reads it and goes on."
          label="Deny"
          reason={drafting.draft.reason ?? ''}
          onReason={reason => drafting.change({ reason })}
          onBack={() => steps.go('first')}
          focused={steps.focused}
        />
      )
    case 'first':
      return <FirstStep {...props} />
  }
}

function FirstStep({ ask, hand, drafting, steps, shown }: ApprovalStepProps): ReactNode {
  const note = drafting.draft.note?.trim() ?? ''
  const offers = ask.caution?.noRemember ? 0 : (ask.suggestions?.length ?? 0)
  const step = (label: string, to: 'edit' | 'note' | 'always') => (
    <StepButton label={label} held={hand.held} onGo={() => steps.go(to)} {...(to === 'edit' && { shortcut: 'e' })} />
  )
  return (
    <div className="actions first">
      <Allow {...{ hand, ask, shown }} label={note ? allowNoted : allowOnce} answer={allowing({ note })} shortcut="a" />
      <div className="more">
        {ask.editable && step('Edit…', 'edit')}
        {step(note ? 'Your note…' : 'Add a note…', 'note')}
        {offers > 0 && step('Always…', 'always')}
      </div>
      <StepButton label="Deny…" shortcut="d" className="apart deny" held={hand.held} onGo={() => steps.go('deny')} />
    </div>
  )
}
