/** One question: what may be chosen, how each choice would look, and room for words of one's own. */
import { limits, type Question } from '@holdpoint/protocol'
import { type ReactNode, use, useId, useState } from 'react'
import { InlineAgentText, InvisibleWarning, Sentences } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { CardContext } from '../shortcut.tsx'
import { type Picked, pick, pickOwn, write } from './question-answers.ts'
import '../choices.css'
import './question-view.css'

export interface QuestionViewProps {
  readonly question: Question
  readonly picked: Picked
  readonly onPick: (picked: Picked) => void
  /** The person is at this one. */
  readonly onTurn: () => void
  readonly hand: Pick<AnswerSubmission, 'held' | 'pressed'>
  /** Number keys choose among its options. */
  readonly keyed: boolean
}

const keysMax = 9

export function QuestionView({ question, picked, onPick, onTurn, hand, keyed }: QuestionViewProps): ReactNode {
  const { header, options, multiSelect, allowOther, secret } = question
  const [hovered, setHovered] = useState<string | null>(null)
  const { active } = use(CardContext)
  const keyOf = (at: number) => (keyed && active && at < keysMax ? String(at + 1) : undefined)
  const name = useId()
  const previews = options.filter(option => option.preview !== undefined)
  const shown = [hovered, ...picked.chosen.toReversed(), previews[0]?.label].find(label =>
    previews.some(option => option.label === label),
  )
  return (
    <fieldset className="question" onFocus={onTurn}>
      <legend className="question-text agent-background">
        {header !== '' && <InlineAgentText text={header} className="chip" />}
        <Sentences text={question.question} />
      </legend>
      <InvisibleWarning text={question.question} />
      {(multiSelect || secret) && (
        <p className="soft small">{secret ? 'Kept secret: only the agent gets to see it.' : 'Choose any.'}</p>
      )}
      <div className={previews.length > 0 ? 'with-preview' : ''}>
        <div className="choices">
          {options.map(({ label, description }, at) => (
            <label
              key={label}
              className="choice"
              data-key={keyOf(at)}
              onPointerEnter={() => setHovered(label)}
              onPointerLeave={() => setHovered(null)}
            >
              <input
                type={multiSelect ? 'checkbox' : 'radio'}
                name={name}
                checked={picked.chosen.includes(label)}
                disabled={hand.held}
                onChange={() => onPick(pick(question, picked, label))}
                aria-keyshortcuts={keyOf(at)}
              />
              <span className="choice-text agent-background">
                <InlineAgentText text={label} className="strong" />
                {description !== undefined && <Sentences text={description} />}
              </span>
            </label>
          ))}
          {allowOther && <Own {...{ question, picked, onPick, hand, name }} />}
        </div>
        {previews.length > 0 && (
          <div className="previews">
            {previews.map(option => (
              <div key={option.label} className={option.label === shown ? 'preview shown' : 'preview'}>
                <p className="soft small">
                  How <InlineAgentText text={option.label} className="strong" /> would look
                </p>
                <Code text={option.preview ?? ''} />
              </div>
            ))}
          </div>
        )}
      </div>
    </fieldset>
  )
}

type OwnProps = Omit<QuestionViewProps, 'onTurn' | 'keyed'> & { readonly name: string }

/** Where there is nothing to choose, it stands alone. */
function Own({ question, picked, onPick, hand, name }: OwnProps): ReactNode {
  const { options, multiSelect, secret } = question
  const id = useId()
  const alone = options.length === 0
  const props = {
    id,
    className: 'input',
    maxLength: limits.textMax,
    value: picked.other ?? '',
    // Whoever writes goes on while the gateway is away.
    readOnly: hand.pressed !== null,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onPick(write(question, picked, event.target.value)),
  }
  return (
    <div className={alone ? 'own-answer' : 'choice own-answer'}>
      {!alone && (
        <input
          type={multiSelect ? 'checkbox' : 'radio'}
          name={name}
          aria-label="Other"
          checked={picked.own}
          disabled={hand.held}
          onChange={() => {
            onPick(pickOwn(question, picked))
            document.getElementById(id)?.focus()
          }}
        />
      )}
      <div className="field">
        <label htmlFor={id}>{alone ? 'Your answer' : 'Other'}</label>
        {secret ? (
          <input {...props} type="password" autoComplete="off" spellCheck={false} />
        ) : (
          <textarea {...props} rows={alone ? 3 : 1} />
        )}
      </div>
    </div>
  )
}
