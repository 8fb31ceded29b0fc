/** The ways to say yes or no to an approval, one step at a time. */
import type { ReactNode } from 'react'
import { Allow, type ApprovalStepProps, allowing, allowNoted, allowOnce } from './allow.tsx'
import { AlwaysStep } from './always-step.tsx'
import { EditStep } from './edit-step.tsx'
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
    <button type="button" className="button" disabled={hand.held} onClick={() => steps.go(to)}>
      {label}
    </button>
  )
  return (
    <div className="actions first">
      <Allow hand={hand} ask={ask} shown={shown} label={note ? allowNoted : allowOnce} answer={allowing({ note })} />
      <div className="more">
        {ask.editable && step('Edit…', 'edit')}
        {step(note ? 'Your note…' : 'Add a note…', 'note')}
        {offers > 0 && step('Always…', 'always')}
      </div>
      <button type="button" className="button apart deny" disabled={hand.held} onClick={() => steps.go('deny')}>
        Deny…
      </button>
    </div>
  )
}
