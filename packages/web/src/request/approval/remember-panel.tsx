/** Allowing for longer than once: what the agent's own program offers to remember, each with how far it reaches. */
import { type ReactNode, useId, useState } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { BackButton } from '../back-button.tsx'
import { AllowButton, type ApprovalPanelProps, allowAnswer } from './allow-button.tsx'
import { scopeLabel } from './approval-text.ts'
import '../card-panel.css'
import '../choices.css'

export function RememberPanel({ ask, hand, drafting, steps, shown }: ApprovalPanelProps): ReactNode {
  const yes = allowAnswer(ask, drafting.draft)
  const [chosen, setChosen] = useState<string | null>(null)
  const name = useId()
  return (
    <div className="card-panel">
      <fieldset className="choices">
        <legend className="soft small">
          The agent’s own program offers to remember one of these. It keeps it, not Holdpoint.
        </legend>
        {(ask.suggestions ?? []).map(({ id, label, scope }) => (
          <label key={id} className="choice">
            <input type="radio" name={name} checked={chosen === id} onChange={() => setChosen(id)} />
            <span className="choice-text">
              <InlineAgentText text={label} className="mono agent-background value" />
              <span className="soft small">{scopeLabel(scope) ?? <InlineAgentText text={`Scope: ${scope}`} />}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {yes.note !== undefined && (
        <p className="soft small">
          Your note goes with it: <InlineAgentText text={yes.note} />
        </p>
      )}
      <div className="actions">
        <AllowButton
          {...{ hand, ask, shown }}
          label="Allow and remember this"
          answer={chosen === null ? null : { ...yes, suggestion: chosen }}
        />
        <BackButton hand={hand} onBack={() => steps.go('first')} />
      </div>
    </div>
  )
}
