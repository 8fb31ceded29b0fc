/** All questions of a request on one card, answered together; one may be left out. */
import type { QuestionsAsk } from '@holdpoint/protocol'
import { type ReactNode, useMemo, useState } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import { AnswerButton } from '../answer-button.tsx'
import { AnswerFooter } from '../answer-footer.tsx'
import type { AskCardProps } from '../ask-card.ts'
import { useCardPanels } from '../card-panel.ts'
import { answersOf, draftOf, nothingPicked, type Picked, pick, pickedOf, questionInTurn } from './question-answers.ts'
import { QuestionView } from './question-view.tsx'
import './questions-card.css'

export function QuestionsCard({ request, ask, hand, drafting, open }: AskCardProps<QuestionsAsk>): ReactNode {
  const steps = useCardPanels(drafting, request.id)
  const { picks, setPick } = usePicks(ask, drafting)
  const [at, setAt] = useState<string | null>(null)
  const turn = questionInTurn(ask, picks, at)
  const answers = answersOf(ask, picks)
  const left = ask.questions.length - answers.length
  const label =
    left === 0 ? (ask.questions.length === 1 ? 'Send the answer' : 'Send answers') : `Answer some, leave ${left} out`
  const answer = answers.length > 0 ? { kind: 'answers' as const, answers: [...answers] } : null
  const actions = useMemo(
    () => ({
      open,
      deny: () => steps.go('deny'),
      ...(answer && left === 0 && steps.step === 'first' && { allow: () => hand.send(label, answer) }),
      choose: (number: number) => {
        const option = turn?.options[number - 1]
        if (!turn || !option || hand.held) return
        setPick(turn.id, pick(turn, picks.get(turn.id) ?? nothingPicked, option.label))
        setAt(turn.multiSelect ? turn.id : null)
      },
    }),
    [open, steps, answer, left, label, hand, turn, picks, setPick],
  )
  useCardActions(request.id, actions)
  return (
    <>
      <div className="questions card-body">
        {ask.questions.map(question => (
          <QuestionView
            key={question.id}
            question={question}
            picked={picks.get(question.id) ?? nothingPicked}
            onPick={picked => setPick(question.id, picked)}
            onTurn={() => setAt(question.id)}
            hand={hand}
            keyed={question === turn}
          />
        ))}
      </div>
      <AnswerFooter {...{ hand, drafting, steps }} why="Why do you not answer? The agent reads it and goes on.">
        <AnswerButton
          hand={hand}
          label={answer ? label : 'Send answers'}
          busy="Sending…"
          answer={answer}
          className={left === 0 ? 'primary' : ''}
          {...(left === 0 && { shortcut: 'a' })}
        />
      </AnswerFooter>
    </>
  )
}

/** What is picked lives in the draft; a secret, which the draft must not hold, lives here. */
function usePicks(ask: QuestionsAsk, { draft, change }: AskCardProps<QuestionsAsk>['drafting']) {
  const [here, setHere] = useState<ReadonlyMap<string, Picked>>(new Map())
  return useMemo(() => {
    const picks = new Map(
      ask.questions.map(({ id, secret }) => [
        id,
        secret ? (here.get(id) ?? nothingPicked) : pickedOf(draft.answers?.get(id)),
      ]),
    )
    const setPick = (id: string, picked: Picked) => {
      const next = new Map(picks).set(id, picked)
      setHere(next)
      change({ answers: draftOf(ask, next) })
    }
    return { picks, setPick }
  }, [ask, here, draft.answers, change])
}
