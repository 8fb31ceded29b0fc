/** Shows the details of a resolved request: the ask, the answer, the person or rule that answered, the times, and the digest. */
import {
  actionLabel,
  commentsOf,
  deliveryLabel,
  editableJson,
  editableOf,
  isAskedBack,
  riskLabel,
} from '@holdpoint/client'
import {
  type Answer,
  type ApprovalAsk,
  type Ask,
  commentPlace,
  type JsonObject,
  type QuestionsAsk,
  type Request,
} from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { ExactText } from '../../text/agent-text.tsx'
import { Code } from '../../text/code.tsx'
import { ChangeView } from '../../text/diff-view.tsx'
import { dateTime } from '../../text/format-time.ts'
import { AgentParagraphs, Quote, Sentences } from '../../text/prose.tsx'
import { ApprovalBody } from '../approval/approval-body.tsx'
import { Entries, type Fact, FactList } from '../fields.tsx'
import { receiptTexts } from '../texts.ts'
import { ResolutionText } from './resolution-text.tsx'
import './receipt-details.css'

export function ReceiptDetails({ request }: { readonly request: Request }): ReactNode {
  return (
    <div className="receipt-details">
      <p className="soft small">{receiptTexts.asked(actionLabel(request.ask))}</p>
      <AskDetails request={request} />
      <AnswerDetails request={request} />
      <Facts request={request} />
    </div>
  )
}

function AskDetails({ request: { ask, session } }: { readonly request: Request }): ReactNode {
  switch (ask.kind) {
    case 'approval':
      return <ApprovalBody ask={ask} session={session} />
    case 'questions':
      return null
    case 'form':
      return (
        <>
          <Quote text={[ask.title, ask.message].filter(Boolean).join('\n')} />
          {ask.url !== undefined && <ExactText text={ask.url} className="mono agent-background value" />}
        </>
      )
  }
}

function AnswerDetails({ request }: { readonly request: Request }): ReactNode {
  const { ask, resolution } = request
  const answer = resolution?.answer
  if (ask.kind === 'questions') return <QuestionAnswers ask={ask} answer={answer} />
  if (!answer) return null
  return (
    <>
      {ask.kind === 'approval' && answer.kind === 'allow' && answer.input && (
        <EditDiff ask={ask} input={answer.input} />
      )}
      {answer.kind === 'submit' && <Entries value={answer.values} />}
      <NoteOrReason answer={answer} />
      <Comments ask={ask} answer={answer} />
    </>
  )
}

function EditDiff({ ask, input: edited }: { readonly ask: ApprovalAsk; readonly input: JsonObject }): ReactNode {
  const { property } = editableOf(ask)
  const [before, after] = [ask.input, edited].map(input => (property === null ? null : input[property]))
  const isText = typeof before === 'string' && typeof after === 'string'
  return (
    <div className="remark">
      <span className="soft small">{receiptTexts.edited}</span>
      <ChangeView
        context={3}
        edit={isText ? { before, after } : { before: editableJson(ask.input), after: editableJson(edited) }}
      />
    </div>
  )
}

function NoteOrReason({ answer }: { readonly answer: Answer }): ReactNode {
  const text = answer.kind === 'allow' ? answer.note : 'reason' in answer ? answer.reason : undefined
  if (!text) return null
  const label = answer.kind === 'allow' ? receiptTexts.note : receiptTexts.reason
  return (
    <div className="remark">
      <span className="soft small">{isAskedBack(answer) ? receiptTexts.question : label}</span>
      <Quote text={text} />
    </div>
  )
}

/** Shows each comment with its place and the line that it quotes. */
function Comments({ ask, answer }: { readonly ask: Ask; readonly answer: Answer }): ReactNode {
  const comments = commentsOf(answer)
  if (comments.length === 0) return null
  return (
    <div className="remark">
      <span className="soft small">{receiptTexts.comments}</span>
      {comments.map(comment => (
        <div key={commentPlace(ask, comment)} className="remark">
          <ExactText text={commentPlace(ask, comment)} className="mono" />
          {comment.quote !== '' && <Code text={comment.quote} />}
          <Sentences text={comment.text} />
        </div>
      ))}
    </div>
  )
}

interface QuestionAnswersProps {
  readonly ask: QuestionsAsk
  readonly answer: Answer | undefined
}

function QuestionAnswers({ ask, answer }: QuestionAnswersProps): ReactNode {
  const answers = answer?.kind === 'answers' ? answer.answers : []
  return (
    <>
      {ask.questions.map(({ id, question }) => {
        const given = answers.find(each => each.id === id)
        const text = given && [...given.chosen, ...(given.other === undefined ? [] : [given.other])].join(', ')
        return (
          <div key={id} className="remark">
            <Quote text={question} />
            {text === undefined ? (
              <span className="soft small">{receiptTexts.notAnswered}</span>
            ) : (
              <AgentParagraphs text={text} />
            )}
          </div>
        )
      })}
      {answer && <NoteOrReason answer={answer} />}
    </>
  )
}

function Facts({ request }: { readonly request: Request }): ReactNode {
  const { me } = useGateway()
  const { resolution, delivery, digest, openedAt, id, risk } = request
  const { facts: labels, clients } = receiptTexts
  const via = resolution?.via
  const watcher = resolution?.watcher ?? request.watcher
  const client = via !== undefined && Object.hasOwn(clients, via) ? clients[via] : via
  const delivered =
    resolution && resolution.by !== 'agent' ? `${deliveryLabel(delivery)}, ${dateTime(delivery.at)}` : null
  const facts: readonly Fact[] = [
    [labels.asked, dateTime(openedAt)],
    [labels.risk, risk && riskLabel(risk)],
    [labels.editedRisk, resolution?.editedRisk && riskLabel(resolution.editedRisk)],
    [
      labels.resolved,
      resolution && (
        <>
          {`${dateTime(resolution.at)}, `}
          <ResolutionText resolution={resolution} me={me} />
        </>
      ),
    ],
    [labels.answeredFrom, client && <ExactText text={client} />],
    [labels.rule, resolution?.rule && <ExactText text={resolution.rule} className="mono" />],
    [labels.watcher, watcher && <ExactText text={`${watcher.name} (${watcher.file})`} className="mono" />],
    [labels.delivery, delivered],
    [labels.digest, <ExactText key="digest" text={digest} className="mono" />],
    [labels.editedDigest, resolution?.editedDigest && <ExactText text={resolution.editedDigest} className="mono" />],
    [labels.request, <ExactText key="id" text={id} className="mono" />],
  ]
  return <FactList facts={facts} className="receipt-facts" />
}
