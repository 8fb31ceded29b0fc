/** The card of a request with questions. All answers are sent together, and the person may leave some questions unanswered. */
import type { QuestionsAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import type { Press } from '../../shortcuts/press.ts'
import { AnswerButton } from '../answer-button.tsx'
import { AnswerFooter } from '../answer-footer.tsx'
import { type AskCardProps, useCardPanels } from '../card-panel.tsx'
import { sendKeyHandler } from '../send-key.tsx'
import { questionTexts } from '../texts.ts'
import {
  answersOf,
  draftChoices,
  instantQuestion,
  nothingPicked,
  type PickedAnswer,
  pickedFromDraft,
  pickOption,
  questionForKeys,
} from './question-answers.ts'
import { QuestionView } from './question-view.tsx'
import './questions-card.css'

export function QuestionsCard(props: AskCardProps<QuestionsAsk>): ReactNode {
  const { request, ask, submission, cardDraft, focusCard } = props
  const panels = useCardPanels(cardDraft, request.id)
  const { picks, setPick } = usePicks(ask, cardDraft)
  const [focusedId, setFocusedId] = useState<string | null>(null)
  const keyQuestion = questionForKeys(ask, picks, focusedId)
  const answers = answersOf(ask, picks)
  const unanswered = ask.questions.length - answers.length
  const label = sendLabel(ask, answers.length)
  const answer = answers.length > 0 ? { kind: 'answers' as const, answers: [...answers] } : null
  const canSend = answer !== null && unanswered === 0 && panels.current === 'main' && !submission.disabled
  const send = canSend ? (press: Press) => submission.submit(label, answer, press) : null
  const instant = instantQuestion(ask)
  const actions = useMemo(
    () => ({
      open: focusCard,
      deny: () => panels.open('deny'),
      ...(answer &&
        unanswered === 0 &&
        panels.current === 'main' && {
          allow: (press: Press) => submission.submit(label, answer, press),
          allowAnswer: answer,
        }),
      choose: (number: number) => {
        const option = keyQuestion?.options[number - 1]
        if (!keyQuestion || !option || submission.disabled) return
        setPick(keyQuestion.id, pickOption(keyQuestion, picks.get(keyQuestion.id) ?? nothingPicked, option.label))
        setFocusedId(keyQuestion.multiSelect ? keyQuestion.id : null)
      },
    }),
    [focusCard, panels, answer, unanswered, label, submission, keyQuestion, picks, setPick],
  )
  useCardActions(request.id, actions)
  return (
    <>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the fields inside */}
      <div className="questions card-body" onKeyDown={sendKeyHandler(send)}>
        {ask.questions.map(question => (
          <QuestionView
            key={question.id}
            question={question}
            picked={picks.get(question.id) ?? nothingPicked}
            onPick={picked => setPick(question.id, picked)}
            onFocus={() => setFocusedId(question.id)}
            submission={submission}
            isInstant={question === instant}
            send={send}
            hasNumberKeys={question === keyQuestion}
          />
        ))}
      </div>
      <AnswerFooter {...{ submission, cardDraft, panels }} session={request.session} canAskBack>
        {(!instant || instant.allowOther || answer) && (
          <AnswerButton
            {...{ submission, label, answer }}
            busyLabel={questionTexts.sending}
            className={unanswered === 0 ? 'primary' : ''}
            {...(unanswered === 0 && { shortcut: 'a' })}
          />
        )}
      </AnswerFooter>
    </>
  )
}

function sendLabel({ questions }: QuestionsAsk, answered: number): string {
  if (questions.length === 1) return questionTexts.sendOne
  const unanswered = questions.length - answered
  return answered === 0 || unanswered === 0 ? questionTexts.sendAll : questionTexts.sendSome(unanswered)
}

/** Stores the picked options in the draft, and secrets only in this component's state, because a draft must not contain secrets. */
function usePicks(ask: QuestionsAsk, { draft, change }: AskCardProps<QuestionsAsk>['cardDraft']) {
  const [localPicks, setLocalPicks] = useState<ReadonlyMap<string, PickedAnswer>>(new Map())
  return useMemo(() => {
    const picks = new Map(
      ask.questions.map(({ id, secret }) => [
        id,
        secret ? (localPicks.get(id) ?? nothingPicked) : pickedFromDraft(draft.answers?.get(id)),
      ]),
    )
    const setPick = (id: string, picked: PickedAnswer) => {
      const next = new Map(picks).set(id, picked)
      setLocalPicks(next)
      change({ answers: draftChoices(ask, next) })
    }
    return { picks, setPick }
  }, [ask, localPicks, draft.answers, change])
}
