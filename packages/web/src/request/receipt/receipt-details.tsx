/** The whole story of a resolved request: what was asked, what was said, by whom or which rule, when, and under which digest. */
import { actionLabel, deliveryLabel, editableJson, editableOf, effectiveAsk, resolutionLabel } from '@holdpoint/client'
import type { Answer, ApprovalAsk, QuestionsAsk, Request } from '@holdpoint/protocol'
import type { ReactNode } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { AgentParagraphs, InlineAgentText, Quote } from '../../text/agent-text.tsx'
import { ChangeView } from '../../text/diff-view.tsx'
import { dateTime } from '../../text/format-time.ts'
import { ApprovalBody } from '../approval/approval-body.tsx'
import { Entries } from '../fields.tsx'
import './receipt-details.css'

export function ReceiptDetails({ request }: { readonly request: Request }): ReactNode {
  return (
    <div className="receipt-details">
      <p className="soft small">Asked: {actionLabel(request.ask)}</p>
      <Asked request={request} />
      <Said request={request} />
      <Facts request={request} />
    </div>
  )
}

function Asked({ request: { ask } }: { readonly request: Request }): ReactNode {
  switch (ask.kind) {
    case 'approval':
      return <ApprovalBody ask={ask} />
    case 'questions':
      return null
    case 'form':
      return <Quote text={[ask.title, ask.message, ask.url ?? ''].filter(Boolean).join('\n')} />
  }
}

function Said({ request }: { readonly request: Request }): ReactNode {
  const { ask, resolution } = request
  const answer = resolution?.answer
  if (ask.kind === 'questions') return <Answers ask={ask} answer={answer} />
  if (!answer) return null
  return (
    <>
      {ask.kind === 'approval' && answer.kind === 'allow' && answer.input && <Edited ask={ask} request={request} />}
      {answer.kind === 'submit' && <Entries value={answer.values} />}
      <Remark answer={answer} />
    </>
  )
}

function Edited({ ask, request }: { readonly ask: ApprovalAsk; readonly request: Request }): ReactNode {
  const ran = effectiveAsk(ask, request.resolution)
  if (ran.kind !== 'approval') return null
  const { property } = editableOf(ask)
  const [before, after] = [ask, ran].map(({ input }) => (property === null ? null : input[property]))
  const named = typeof before === 'string' && typeof after === 'string'
  return (
    <div className="remark">
      <span className="soft small">What was changed before it was allowed</span>
      <ChangeView
        context={3}
        part={named ? { before, after } : { before: editableJson(ask.input), after: editableJson(ran.input) }}
      />
    </div>
  )
}

function Remark({ answer }: { readonly answer: Answer }): ReactNode {
  const words = answer.kind === 'allow' ? answer.note : 'reason' in answer ? answer.reason : undefined
  if (!words) return null
  return (
    <div className="remark">
      <span className="soft small">{answer.kind === 'allow' ? 'With the note' : 'With the reason'}</span>
      <Quote text={words} />
    </div>
  )
}

function Answers({ ask, answer }: { readonly ask: QuestionsAsk; readonly answer: Answer | undefined }): ReactNode {
  const answers = answer?.kind === 'answers' ? answer.answers : []
  return (
    <>
      {ask.questions.map(({ id, question }) => {
        const given = answers.find(each => each.id === id)
        const words = given && [...given.chosen, ...(given.other === undefined ? [] : [given.other])].join(', ')
        return (
          <div key={id} className="remark">
            <Quote text={question} />
            {words === undefined ? <span className="soft small">not answered</span> : <AgentParagraphs text={words} />}
          </div>
        )
      })}
      {answer && <Remark answer={answer} />}
    </>
  )
}

function Facts({ request }: { readonly request: Request }): ReactNode {
  const { me } = useGateway()
  const { resolution, delivery, digest, openedAt, id } = request
  const facts: readonly (readonly [string, ReactNode])[] = [
    ['Asked', dateTime(openedAt)],
    ...(resolution ? ([['Resolved', `${dateTime(resolution.at)}, ${resolutionLabel(resolution, me)}`]] as const) : []),
    ...(resolution?.via ? ([['Through', <InlineAgentText key="via" text={resolution.via} />]] as const) : []),
    ...(resolution?.rule
      ? ([['Rule', <InlineAgentText key="rule" text={resolution.rule} className="mono" />]] as const)
      : []),
    ...(resolution && resolution.by !== 'agent'
      ? ([['Delivery', `${deliveryLabel(delivery)}, ${dateTime(delivery.at)}`]] as const)
      : []),
    ['Digest', <InlineAgentText key="digest" text={digest} className="mono" />],
    ...(resolution?.editedDigest
      ? ([
          ['Digest as it ran', <InlineAgentText key="edited" text={resolution.editedDigest} className="mono" />],
        ] as const)
      : []),
    ['Request', <InlineAgentText key="id" text={id} className="mono" />],
  ]
  return (
    <dl className="field-list receipt-facts">
      {facts.map(([name, value]) => (
        <div key={name} className="field-row">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
