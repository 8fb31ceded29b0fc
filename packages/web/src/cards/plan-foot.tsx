/** What one says to a plan: go on by it, in a mode of one's choice; change it first; or keep planning, with what is missing. */
import { reveal } from '@holdpoint/protocol'
import { type ReactNode, useId } from 'react'
import { useInboxPart } from '../desk.ts'
import { Allow, type ApprovalStepProps, allowing } from './allow.tsx'
import { modeWords } from './approval-words.ts'
import { useDriver } from './drivers.ts'
import { EditStep } from './edit-step.tsx'
import { StepButton } from './key-hint.tsx'
import { NoteStep } from './note-step.tsx'
import { ReasonStep } from './reason-step.tsx'

export function approveWord({ note }: { readonly note?: string | undefined }): string {
  return note ? 'Approve with your note' : 'Approve plan'
}

export function PlanFoot(props: ApprovalStepProps): ReactNode {
  const { hand, drafting, steps } = props
  switch (steps.step) {
    case 'edit':
      return <EditStep {...props} />
    case 'note':
      return <NoteStep {...props} />
    case 'deny':
      return (
        <ReasonStep
          hand={hand}
          kind="deny"
          title="What should the plan do differently? The agent goes on planning with it."
          label="Keep planning"
          reason={drafting.draft.reason ?? ''}
          onReason={reason => drafting.change({ reason })}
          onBack={() => steps.go('first')}
          focused={steps.focused}
        />
      )
    default:
      return <PlanFirst {...props} />
  }
}

function PlanFirst({ request, ask, hand, drafting, steps, shown }: ApprovalStepProps): ReactNode {
  const driverName = useInboxPart(({ sessions }) => sessions.get(request.session)?.driver)
  const modes = useDriver(driverName)?.modes ?? []
  const { mode } = drafting.draft
  const answer = allowing(drafting.draft)
  const id = useId()
  return (
    <>
      {modes.length > 0 && (
        <div className="into-mode">
          <label className="soft small" htmlFor={id}>
            Then the agent
          </label>
          <select
            id={id}
            className="input"
            value={mode ?? ''}
            disabled={hand.held}
            onChange={event => drafting.change({ mode: event.target.value })}
          >
            <option value="">goes on as its own program decides</option>
            {modes.map(name => (
              <option key={name} value={name}>
                {reveal(modeWords(name))}
              </option>
            ))}
          </select>
        </div>
      )}
      <div className="actions first">
        <Allow {...{ hand, ask, shown }} label={approveWord(answer)} answer={answer} shortcut="a" />
        <div className="more">
          {ask.editable && (
            <StepButton label="Edit the plan…" shortcut="e" held={hand.held} onGo={() => steps.go('edit')} />
          )}
          <StepButton
            label={answer.note ? 'Your note…' : 'Add a note…'}
            held={hand.held}
            onGo={() => steps.go('note')}
          />
        </div>
        <StepButton
          label="Keep planning…"
          shortcut="d"
          className="apart deny"
          held={hand.held}
          onGo={() => steps.go('deny')}
        />
      </div>
    </>
  )
}
