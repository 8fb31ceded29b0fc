/** One question of a card: its options, their previews, and a field for another answer. */
import { limits, type Question } from '@holdpoint/protocol'
import { type ReactNode, use, useId, useState } from 'react'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { Sentences } from '../../text/prose.tsx'
import { ProseWarnings } from '../../text/text-warnings.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { type SendByKey, SendHint } from '../send-key.tsx'
import { CardContext } from '../shortcut.tsx'
import { questionTexts } from '../texts.ts'
import { OptionButton } from './option-button.tsx'
import { type PickedAnswer, pickOption, toggleOther, writeOther } from './question-answers.ts'
import '../choices.css'
import './question-view.css'

export interface QuestionViewProps {
  readonly question: Question
  readonly picked: PickedAnswer
  readonly onPick: (picked: PickedAnswer) => void
  readonly onFocus: () => void
  readonly submission: Pick<AnswerSubmission, 'disabled' | 'sendingLabel' | 'submit'>
  /** True if a click on an option sends it as the answer. */
  readonly isInstant: boolean
  readonly send: SendByKey
  /** True if the number keys choose among this question's options. */
  readonly hasNumberKeys: boolean
}

const numberKeysMax = 9

export function QuestionView(props: QuestionViewProps): ReactNode {
  const { question, picked, onPick, onFocus, submission, hasNumberKeys, isInstant, send } = props
  const { header, options, multiSelect, allowOther, secret } = question
  const [hovered, setHovered] = useState<string | null>(null)
  const { active } = use(CardContext)
  const keyOf = (index: number) => (hasNumberKeys && active && index < numberKeysMax ? String(index + 1) : undefined)
  const name = useId()
  const previews = options.filter(option => option.preview !== undefined)
  const previewed = [hovered, ...picked.chosen.toReversed(), previews[0]?.label].find(label =>
    previews.some(option => option.label === label),
  )
  return (
    <fieldset className="question" onFocus={onFocus}>
      <legend className="question-text agent-background">
        {header !== '' && <InlineAgentText text={header} className="chip" />}
        <Sentences text={question.question} />
      </legend>
      <ProseWarnings text={textsOf(question)} />
      {(multiSelect || secret) && (
        <p className="soft small">{secret ? questionTexts.secret : questionTexts.multiSelect}</p>
      )}
      <div className={previews.length > 0 ? 'with-preview' : ''}>
        <div className="choices">
          {isInstant ? (
            <OptionButtons {...{ question, picked, submission, keyOf }} />
          ) : (
            options.map(({ label, description }, index) => (
              <label
                key={label}
                className="choice"
                data-key={keyOf(index)}
                onPointerEnter={() => setHovered(label)}
                onPointerLeave={() => setHovered(null)}
              >
                <input
                  type={multiSelect ? 'checkbox' : 'radio'}
                  name={name}
                  checked={picked.chosen.includes(label)}
                  disabled={submission.disabled}
                  onChange={() => onPick(pickOption(question, picked, label))}
                  aria-keyshortcuts={keyOf(index)}
                />
                <span className="choice-text agent-background">
                  <InlineAgentText text={label} className="strong" />
                  {description !== undefined && <Sentences text={description} />}
                </span>
              </label>
            ))
          )}
          {allowOther && <OtherAnswer {...{ question, picked, onPick, submission, name, isInstant, send }} />}
        </div>
        {previews.length > 0 && (
          <div className="previews">
            {previews.map(option => (
              <div key={option.label} className={option.label === previewed ? 'preview shown' : 'preview'}>
                <p className="soft small">
                  {questionTexts.preview}{' '}
                  <InlineAgentText text={option.label} className="strong agent-background preview-name" />
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

interface OptionButtonsProps extends Pick<QuestionViewProps, 'question' | 'picked' | 'submission'> {
  readonly keyOf: (index: number) => string | undefined
}

function OptionButtons({ question, picked, submission, keyOf }: OptionButtonsProps): ReactNode {
  return (
    <div className="option-buttons">
      {question.options.map((option, index) => (
        <OptionButton
          key={option.label}
          {...{ question, option, submission }}
          isChosen={picked.chosen.includes(option.label)}
          shortcut={keyOf(index)}
        />
      ))}
    </div>
  )
}

/** Returns all texts of the question, to find invisible characters in them. Previews have warnings of their own. */
function textsOf({ header, question, options }: Question): string {
  return [header, question, ...options.flatMap(option => [option.label, option.description ?? ''])].join('\n')
}

type OtherAnswerProps = Omit<QuestionViewProps, 'onFocus' | 'hasNumberKeys'> & { readonly name: string }

/** The field for an answer in the person's own words. A question without options has no other control. */
function OtherAnswer({ question, picked, onPick, submission, name, isInstant, send }: OtherAnswerProps): ReactNode {
  const { options, multiSelect, secret } = question
  const id = useId()
  // If a click on an option sends it, this field needs no radio button beside it, as if there were no options.
  const isOnlyControl = options.length === 0 || isInstant
  const props = {
    id,
    className: 'input',
    maxLength: limits.textMax,
    value: picked.other ?? '',
    // The field is not disabled while the gateway is unreachable, so that the person can keep writing.
    readOnly: submission.sendingLabel !== null,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onPick(writeOther(question, picked, event.target.value)),
  }
  return (
    <div className={isOnlyControl ? 'own-answer' : 'choice own-answer'}>
      {!isOnlyControl && (
        <input
          type={multiSelect ? 'checkbox' : 'radio'}
          name={name}
          aria-label={questionTexts.other}
          checked={picked.own}
          disabled={submission.disabled}
          onChange={() => {
            onPick(toggleOther(question, picked))
            document.getElementById(id)?.focus()
          }}
        />
      )}
      <div className="field">
        <label htmlFor={id}>{options.length === 0 ? questionTexts.ownAnswer : questionTexts.other}</label>
        {secret ? (
          <input {...props} type="password" autoComplete="off" spellCheck={false} />
        ) : (
          <textarea {...props} dir="auto" rows={options.length === 0 ? 3 : 1} />
        )}
        <SendHint send={picked.own ? send : null} isLine={secret} />
      </div>
    </div>
  )
}
