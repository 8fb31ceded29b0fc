/** The message composer: Ctrl+Enter or Cmd+Enter sends, as in the text areas of cards, and unsent text and files are stored in the browser. */
import { type Session, uploadAttachments } from '@holdpoint/protocol'
import PaperclipIcon from 'lucide-react/icons/paperclip'
import {
  type ClipboardEvent,
  memo,
  type ReactNode,
  type RefObject,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { errorMessage } from '../../gateway/error-message.ts'
import { useGateway, useLive } from '../../gateway/gateway-context.ts'
import { SendHint } from '../../request/send-key.tsx'
import { useMessageDraft } from '../../storage/use-message-draft.ts'
import { InlineAgentText } from '../../text/agent-text.tsx'
import { useFileDrop } from '../../ui/file-drop.ts'
import { submitByKey } from '../../ui/submit-by-key.ts'
import { AttachmentTile } from './attachment-tile.tsx'
import { composerLabels, composerTexts } from './texts.ts'
import { type Attachments, useAttachments } from './use-attachments.ts'
import './composer.css'

export const Composer = memo(function Composer({ session }: { readonly session: Session }): ReactNode {
  const { closed } = composerLabels(session)
  if (closed !== null) return <p className="composer-closed">{closed}</p>
  return <OpenComposer session={session} />
})

function OpenComposer({ session }: { readonly session: Session }): ReactNode {
  const live = useLive()
  const [text, setText] = useMessageDraft(session.id)
  const files = useAttachments(session.id)
  const { sending, problem, send } = useSend(session, text, setText, files)
  const { placeholder, button, hint } = composerLabels(session)
  const acceptsFiles = session.capabilities.includes('attachments')
  const ready = live && !sending && (text.trim() !== '' || files.items.length > 0)
  const dragging = useFileDrop(acceptsFiles ? files.add : null)
  return (
    <form
      className={`composer ${dragging ? 'drop-target' : ''}`}
      aria-label="Message to the agent"
      onKeyDown={submitByKey}
      onSubmit={event => {
        event.preventDefault()
        if (ready) send()
      }}
    >
      <AttachmentList files={files} />
      <TextField text={text} placeholder={placeholder} onText={setText} onFiles={acceptsFiles ? files.add : null} />
      <div className="composer-footer">
        {acceptsFiles && <AddFiles onFiles={files.add} />}
        <p className="composer-hint">{dragging ? composerTexts.dropHint : hint}</p>
        {ready && <SendHint send={send} />}
        <button type="submit" className="button primary" disabled={!ready} aria-busy={sending}>
          {sending ? 'Sending…' : button}
        </button>
      </div>
      <div role="alert">{problem !== null && <p className="problem">Not sent: {problem}</p>}</div>
    </form>
  )
}

function useSend(session: Session, text: string, setText: (text: string) => void, files: Attachments) {
  const { call } = useGateway()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const latest = useRef(text)
  useLayoutEffect(() => {
    latest.current = text
  })
  const submit = async () => {
    setSending(true)
    setProblem(null)
    try {
      const sent = files.items
      const ids = await uploadAttachments(call, session.id, sent)
      const attachments = ids.length > 0 ? { attachments: ids } : {}
      await call('sendMessage', { id: session.id, text: text.trim(), ...attachments })
      // Keep text and files that the person added while the message was being sent.
      if (latest.current.startsWith(text)) setText(latest.current.slice(text.length).trimStart())
      for (const item of sent) files.remove(item)
      files.clearProblems()
    } catch (error) {
      setProblem(errorMessage(error))
    } finally {
      setSending(false)
    }
  }
  return { sending, problem, send: () => void submit() }
}

function AttachmentList({ files }: { readonly files: Attachments }): ReactNode {
  return (
    <>
      {files.items.length > 0 && (
        <ul className="attachments" aria-label={composerTexts.attachments}>
          {files.items.map((item, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the same file may be attached twice
            <AttachmentTile key={i} attachment={item} data={item.data} onRemove={() => files.remove(item)} />
          ))}
        </ul>
      )}
      <div role="alert">
        {files.problems.map(refusal => (
          <p key={refusal} className="problem">
            <InlineAgentText text={refusal} />
          </p>
        ))}
      </div>
    </>
  )
}

interface TextFieldProps {
  readonly text: string
  readonly placeholder: string
  readonly onText: (text: string) => void
  readonly onFiles: ((files: readonly File[]) => void) | null
}

function TextField({ text, placeholder, onText, onFiles }: TextFieldProps): ReactNode {
  const field = useFittedHeight(text)
  const id = useId()
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files]
    if (!onFiles || pasted.length === 0) return
    event.preventDefault()
    onFiles(pasted)
  }
  return (
    <>
      <label className="visually-hidden" htmlFor={id}>
        Message to the agent
      </label>
      <textarea
        ref={field}
        id={id}
        className="input composer-text"
        dir="auto"
        rows={1}
        value={text}
        placeholder={placeholder}
        onChange={event => onText(event.target.value)}
        onPaste={onPaste}
      />
    </>
  )
}

/** Makes a text area as high as its text, also after its width has changed or after it was hidden. */
function useFittedHeight(text: string): RefObject<HTMLTextAreaElement | null> {
  const field = useRef<HTMLTextAreaElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height follows the text
  useLayoutEffect(() => {
    const element = field.current
    if (element) fitHeight(element)
  }, [text])
  useEffect(() => {
    const element = field.current
    if (!element) return
    let width = element.clientWidth
    const observer = new ResizeObserver(() => {
      if (element.clientWidth === width) return
      width = element.clientWidth
      fitHeight(element)
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return field
}

function fitHeight(element: HTMLTextAreaElement): void {
  element.style.height = 'auto'
  element.style.height = `${element.scrollHeight + 2}px`
}

function AddFiles({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }): ReactNode {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={field}
        type="file"
        multiple
        hidden
        aria-label="Files"
        onChange={event => {
          onFiles([...(event.target.files ?? [])])
          event.target.value = ''
        }}
      />
      <button type="button" className="button plain add-files" onClick={() => field.current?.click()}>
        <PaperclipIcon />
        <span className="add-files-label">{composerTexts.addFiles}</span>
      </button>
    </>
  )
}
