/** The card of a request with a form or a link. The card shows the fields of the schema, validates the values, and sends them. */
import type { RawField } from '@holdpoint/client'
import { type FormAsk, fieldChoices } from '@holdpoint/protocol'
import ExternalLinkIcon from 'lucide-react/icons/external-link'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import { useCardActions } from '../../shortcuts/card-actions.ts'
import type { Press } from '../../shortcuts/press.ts'
import { ExactText, InlineAgentText } from '../../text/agent-text.tsx'
import { Sentences } from '../../text/prose.tsx'
import { CodeWarnings, ProseWarnings } from '../../text/text-warnings.tsx'
import { AnswerButton } from '../answer-button.tsx'
import { AnswerFooter } from '../answer-footer.tsx'
import type { AnswerSubmission } from '../answer-submission.ts'
import { type AskCardProps, useCardPanels } from '../card-panel.tsx'
import type { CardDraft } from '../draft/use-draft.ts'
import { CardBody, FullyShownProvider, ScrollHint, useFullyShown } from '../fully-shown.tsx'
import { SendHint, sendKeyHandler } from '../send-key.tsx'
import { formTexts } from '../texts.ts'
import { FormFieldView } from './form-field.tsx'
import { defaultRaw, draftValues, type FilledForm, readForm, secretValues, urlParts } from './form-values.ts'
import './form-card.css'

export function FormCard({ request, ask, submission, cardDraft, focusCard }: AskCardProps<FormAsk>): ReactNode {
  const { schema, url } = ask
  const panels = useCardPanels(cardDraft, request.id)
  // Default values are sent too, so all fields must have been on the screen before the person can submit.
  const fullyShown = useFullyShown()
  const { raws, touched, setField } = useFormValues(ask, cardDraft)
  const [confirmed, setConfirmed] = useState<ReadonlyMap<string, RawField>>(new Map())
  const filled = readForm(schema, raws, confirmed)
  const { problems } = filled
  const { checked, check, box } = useCheck()
  const [linkOpened, setLinkOpened] = useState(false)
  const actions = useMemo(() => ({ open: focusCard, deny: () => panels.open('deny') }), [focusCard, panels])
  useCardActions(request.id, actions)
  const label = url === undefined ? formTexts.submit : formTexts.done
  const sendValid = (press: Press) => submission.submit(label, { kind: 'submit', values: filled.values }, press)
  const canSend = fullyShown.complete && !submission.disabled && panels.current === 'main'
  // If the form is not valid yet, the key shows its problems, as the button does.
  const send = canSend ? (problems.size === 0 ? sendValid : check) : null
  const hasText = Object.keys(schema.properties).length > 0
  return (
    <FullyShownProvider value={fullyShown}>
      <CardBody>
        {/* biome-ignore lint/a11y/noStaticElementInteractions: this element handles the keys of the fields inside */}
        <div ref={box} className="form" onKeyDown={sendKeyHandler(send)}>
          <div className="form-intro agent-background">
            <InlineAgentText text={ask.title} className="strong" />
            {ask.message !== '' && <Sentences text={ask.message} />}
          </div>
          <ProseWarnings text={formTextsOf(ask)} />
          {url !== undefined && <LinkToOpen url={url} opened={linkOpened} onOpen={() => setLinkOpened(true)} />}
          <div className="form-fields">
            {Object.entries(schema.properties).map(([name, field]) => (
              <FormFieldView
                key={name}
                {...{ name, field, submission }}
                required={schema.required?.includes(name) ?? false}
                raw={raws.get(name) ?? defaultRaw(field)}
                onRaw={raw => setField(name, raw)}
                isConfirmed={confirmed.get(name) === (raws.get(name) ?? defaultRaw(field))}
                onConfirm={raw => setConfirmed(before => withConfirmed(before, name, raw))}
                problem={
                  checked || (touched.has(name) && problems.get(name) !== 'is required')
                    ? problems.get(name)
                    : undefined
                }
              />
            ))}
          </div>
        </div>
      </CardBody>
      <AnswerFooter
        {...{ submission, cardDraft, panels }}
        session={request.session}
        hint={
          <div className="footer-hints">
            {problems.size === 0 && <ScrollHint fullyShown={fullyShown} action="submit" />}
            {hasText && <SendHint send={send} />}
          </div>
        }
      >
        <SubmitButton
          {...{ submission, filled, checked, check }}
          fullyShown={fullyShown.complete}
          label={label}
          isPrimary={url === undefined || linkOpened}
        />
      </AnswerFooter>
    </FullyShownProvider>
  )
}

/** The values of the controls. Secrets stay in the state of this component, because a draft must not contain secrets. */
function useFormValues({ schema }: FormAsk, { draft, change }: CardDraft) {
  const [secrets, setSecrets] = useState<ReadonlyMap<string, RawField>>(new Map())
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set())
  const raws = useMemo(() => new Map([...(draft.values ?? []), ...secrets]), [draft.values, secrets])
  const setField = (name: string, raw: RawField) => {
    const next = new Map(raws).set(name, raw)
    setSecrets(secretValues(schema, next))
    setTouched(before => new Set(before).add(name))
    change({ values: draftValues(schema, next) })
  }
  return { raws, touched, setField }
}

function withConfirmed(
  before: ReadonlyMap<string, RawField>,
  name: string,
  raw: RawField | undefined,
): ReadonlyMap<string, RawField> {
  const after = new Map(before)
  if (raw === undefined) after.delete(name)
  else after.set(name, raw)
  return after
}

/** Returns all texts of the form except its values, to find invisible characters in them. */
function formTextsOf({ title, message, schema }: FormAsk): string {
  const fields = Object.entries(schema.properties).flatMap(([name, field]) => [
    field.title ?? name,
    field.description ?? '',
    ...(fieldChoices(field) ?? []).flatMap(choice => [choice.title, choice.value]),
  ])
  return [title, message, ...fields].join('\n')
}

interface SubmitButtonProps {
  readonly submission: AnswerSubmission
  readonly filled: FilledForm
  /** True once the whole form has been on the screen. */
  readonly fullyShown: boolean
  readonly label: string
  readonly isPrimary: boolean
  readonly checked: boolean
  readonly check: () => void
}

/** Sends the form if all fields are valid; otherwise shows the problems. */
function SubmitButton(props: SubmitButtonProps): ReactNode {
  const { submission, filled, fullyShown, label, isPrimary, checked, check } = props
  const { values, problems } = filled
  const className = isPrimary ? 'primary' : ''
  if (problems.size === 0)
    return (
      <AnswerButton
        {...{ submission, label, className }}
        busyLabel={formTexts.sending}
        answer={fullyShown ? { kind: 'submit', values } : null}
      />
    )
  return (
    <>
      <button
        type="button"
        className={`button answer-button ${className}`}
        disabled={submission.disabled}
        onClick={check}
      >
        {label}
      </button>
      {checked && (
        <span className="problem" role="alert">
          {formTexts.fieldsToFix(problems.size)}
        </span>
      )}
    </>
  )
}

/** Returns a `check` function that shows the problems of the form and focuses the first invalid field inside `box`. */
function useCheck() {
  const [checks, setChecks] = useState(0)
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (checks > 0)
      box.current?.querySelector<HTMLElement>('[aria-invalid="true"], [data-invalid="true"] input')?.focus()
  }, [checks])
  return { checked: checks > 0, check: () => setChecks(count => count + 1), box }
}

interface LinkToOpenProps {
  readonly url: string
  readonly opened: boolean
  readonly onOpen: () => void
}

/** Shows the whole URL and emphasizes its host, so that the person sees which site the link opens. */
function LinkToOpen({ url, opened, onOpen }: LinkToOpenProps): ReactNode {
  const { before, host, after } = urlParts(url)
  return (
    <div className="address">
      <p className="agent-background mono address-text">
        <ExactText text={before} className="soft" />
        <ExactText text={host} className="strong" />
        <ExactText text={after} className="soft" />
      </p>
      <CodeWarnings text={url} />
      <a
        className={`button ${opened ? '' : 'primary'}`}
        href={new URL(url).href}
        target="_blank"
        rel="noopener noreferrer"
        onClick={onOpen}
      >
        {formTexts.openLink(host)} <ExternalLinkIcon />
      </a>
    </div>
  )
}
