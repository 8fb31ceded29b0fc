/** A form from its schema, or a link to open: filled in, checked at each field, and sent. */
import type { RawField } from '@holdpoint/client'
import type { FormAsk } from '@holdpoint/protocol'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import { InlineAgentText, InvisibleWarning, Sentences } from '../../text/agent-text.tsx'
import { AnswerButton } from '../answer-button.tsx'
import { AnswerFooter } from '../answer-footer.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import type { AskCardProps } from '../ask-card.ts'
import { useCardPanels } from '../card-panel.ts'
import { CardBody, FullyShownProvider, ScrollHint, useFullyShown } from '../fully-shown.tsx'
import { FormFieldView } from './form-field.tsx'
import { addressParts, type Filled, fillIn, keptRaws, presetOf, secretRaws } from './form-values.ts'
import './form-card.css'

export function FormCard({ request, ask, hand, drafting, open }: AskCardProps<FormAsk>): ReactNode {
  const { draft, change } = drafting
  const { schema, url } = ask
  const steps = useCardPanels(drafting, request.id)
  // What is filled in already is sent as well: nobody submits what was not shown.
  const whole = useFullyShown()
  // The draft holds everything but secrets.
  const [secrets, setSecrets] = useState<ReadonlyMap<string, RawField>>(new Map())
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const raws = useMemo(() => new Map([...(draft.values ?? []), ...secrets]), [draft.values, secrets])
  const filled = fillIn(schema, raws)
  const { problems } = filled
  const { checked, check, box } = useCheck()
  const [opened, setOpened] = useState(false)
  const actions = useMemo(() => ({ open, deny: () => steps.go('deny') }), [open, steps])
  useCardActions(request.id, actions)
  const set = (name: string, raw: RawField) => {
    const next = new Map(raws).set(name, raw)
    setSecrets(secretRaws(schema, next))
    setTouched(before => new Set(before).add(name))
    change({ values: keptRaws(schema, next) })
  }
  return (
    <FullyShownProvider value={whole}>
      <CardBody>
        <div ref={box} className="form">
          <div className="form-intro agent-background">
            <InlineAgentText text={ask.title} className="strong" />
            {ask.message !== '' && <Sentences text={ask.message} />}
          </div>
          <InvisibleWarning text={`${ask.title}${ask.message}`} />
          {url !== undefined && <Address address={url} opened={opened} onOpen={() => setOpened(true)} />}
          <div className="form-fields">
            {Object.entries(schema.properties).map(([name, field]) => (
              <FormFieldView
                key={name}
                {...{ name, field }}
                required={schema.required?.includes(name) ?? false}
                raw={raws.get(name) ?? presetOf(field)}
                onRaw={raw => set(name, raw)}
                problem={
                  checked || (touched.has(name) && problems.get(name) !== 'is required')
                    ? problems.get(name)
                    : undefined
                }
                hand={hand}
              />
            ))}
          </div>
        </div>
      </CardBody>
      <AnswerFooter
        {...{ hand, drafting, steps }}
        unseen={<ScrollHint whole={whole} deed="submit" />}
        why="Why do you not fill it in? The agent reads it and goes on."
      >
        <Submit
          {...{ hand, filled, checked, check }}
          shown={whole.shown}
          link={url !== undefined}
          first={url === undefined || opened}
        />
      </AnswerFooter>
    </FullyShownProvider>
  )
}

interface SubmitProps {
  readonly hand: AnswerSubmission
  readonly filled: Filled
  /** All of it was on the screen. */
  readonly shown: boolean
  readonly link: boolean
  /** It is the first thing to press now. */
  readonly first: boolean
  readonly checked: boolean
  readonly check: () => void
}

/** With something wrong in it, a form is not sent: the press shows what. */
function Submit({ hand, filled: { values, problems }, shown, link, first, checked, check }: SubmitProps): ReactNode {
  const label = link ? 'I have done it' : 'Submit'
  const looks = first ? 'primary' : ''
  if (problems.size === 0)
    return (
      <AnswerButton
        {...{ hand, label }}
        busy="Sending…"
        answer={shown ? { kind: 'submit', values } : null}
        className={looks}
      />
    )
  return (
    <>
      <button type="button" className={`button answer-button ${looks}`} disabled={hand.held} onClick={check}>
        {label}
      </button>
      {checked && (
        <span className="problem" role="alert">
          {problems.size === 1 ? 'One field needs another look.' : `${problems.size} fields need another look.`}
        </span>
      )}
    </>
  )
}

/** Each check shows what is wrong, and goes to the first of it. */
function useCheck() {
  const [checks, setChecks] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (checks > 0) box.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus()
  }, [checks])
  return { checked: checks > 0, check: () => setChecks(count => count + 1), box }
}

interface AddressProps {
  readonly address: string
  readonly opened: boolean
  readonly onOpen: () => void
}

/** Whole, with the host to be seen: that is what a person can judge. */
function Address({ address, opened, onOpen }: AddressProps): ReactNode {
  const { before, host, after } = addressParts(address)
  return (
    <div className="address">
      <p className="agent-background mono address-text">
        <InlineAgentText text={before} className="soft" />
        <InlineAgentText text={host} className="strong" />
        <InlineAgentText text={after} className="soft" />
      </p>
      <a
        className={`button ${opened ? '' : 'primary'}`}
        href={new URL(address).href}
        target="_blank"
        rel="noopener noreferrer"
        onClick={onOpen}
      >
        Open {host} in a new tab ↗
      </a>
    </div>
  )
}
