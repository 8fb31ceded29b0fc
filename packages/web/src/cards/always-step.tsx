/** Allowing for longer than once: what the agent's own program offers to remember, each with how far it reaches. */
import { type ReactNode, useId, useState } from 'react'
import { Words } from '../parts/agent-text.tsx'
import { Allow, type ApprovalStepProps, yesTo } from './allow.tsx'
import { scopeWords } from './approval-words.ts'
import { Back } from './back.tsx'

export function AlwaysStep({ ask, hand, drafting, steps, shown }: ApprovalStepProps): ReactNode {
  const yes = yesTo(ask, drafting.draft)
  const [chosen, setChosen] = useState<string | null>(null)
  const name = useId()
  return (
    <div className="step">
      <fieldset className="choices">
        <legend className="soft small">
          The agent’s own program offers to remember one of these. It keeps it, not Holdpoint.
        </legend>
        {(ask.suggestions ?? []).map(({ id, label, scope }) => (
          <label key={id} className="choice">
            <input type="radio" name={name} checked={chosen === id} onChange={() => setChosen(id)} />
            <span className="choice-text">
              <Words text={label} className="mono ground value" />
              <span className="soft small">{scopeWords(scope) ?? <Words text={`Scope: ${scope}`} />}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {yes.note !== undefined && (
        <p className="soft small">
          Your note goes with it: <Words text={yes.note} />
        </p>
      )}
      <div className="actions">
        <Allow
          {...{ hand, ask, shown }}
          label="Allow and remember this"
          answer={chosen === null ? null : { ...yes, suggestion: chosen }}
        />
        <Back hand={hand} onBack={() => steps.go('first')} />
      </div>
    </div>
  )
}
