/** The panel in which a person allows a request and lets the agent's program remember the choice. The panel shows the scope of each suggestion. */
import { type ReactNode, useId, useState } from 'react'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { CodeWarnings } from '../../text/text-warnings.tsx'
import { BackButton } from '../card-panel.tsx'
import { AllowButton, type ApprovalPanelProps, allowAnswer } from './allow-button.tsx'
import { panelTexts, scopeLabel } from './texts.ts'
import { useAgentName } from './use-agent-name.ts'
import '../card-panel.css'
import '../choices.css'

export function RememberPanel(props: ApprovalPanelProps): ReactNode {
  const { request, ask, submission, cardDraft, panels, fullyShown } = props
  const answer = allowAnswer(ask, cardDraft.draft)
  const agent = useAgentName(request.session)
  const [chosen, setChosen] = useState<string | null>(null)
  const name = useId()
  return (
    <div className="card-panel">
      <fieldset className="choices">
        <legend className="soft small">{panelTexts.remember(agent)}</legend>
        {(ask.suggestions ?? []).map(({ id, label, scope }) => (
          <label key={id} className="choice">
            <input type="radio" name={name} checked={chosen === id} onChange={() => setChosen(id)} />
            <span className="choice-text">
              <ExactText text={label} className="mono agent-background value" />
              <CodeWarnings text={label} kind="command" />
              <span className="soft small">
                {scopeLabel(scope) ?? <InlineAgentText text={panelTexts.unknownScope(scope)} />}
              </span>
            </span>
          </label>
        ))}
      </fieldset>
      {answer.note !== undefined && (
        <p className="soft small">
          {panelTexts.noteIncluded} <InlineAgentText text={answer.note} />
        </p>
      )}
      <div className="actions">
        <AllowButton
          {...{ request, ask, submission, fullyShown }}
          label={panelTexts.allowAndRemember}
          answer={chosen === null ? null : { ...answer, suggestion: chosen }}
        />
        <BackButton submission={submission} onBack={() => panels.open('main')} />
      </div>
    </div>
  )
}
