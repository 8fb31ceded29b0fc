/** The attachments of the next message, stored in the browser until they are sent, and the reasons why files were refused. */
import { type AttachmentFile, limits, type SessionId } from '@holdpoint/protocol'
import { useEffect, useRef, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { readAttachments, saveAttachments } from '../../storage/attachment-storage.ts'
import { attachmentProblem, readAttachment } from './attachment-rules.ts'

export interface Attachments {
  readonly items: readonly AttachmentFile[]
  readonly problems: readonly string[]
  readonly add: (files: readonly File[]) => void
  readonly remove: (attachment: AttachmentFile) => void
  readonly clearProblems: () => void
}

export function useAttachments(session: SessionId): Attachments {
  const { me } = useGateway()
  const [items, setItems] = useState<readonly AttachmentFile[]>([])
  const [problems, setProblems] = useState<readonly string[]>([])
  const latest = useRef(items)
  const show = (next: readonly AttachmentFile[]) => {
    latest.current = next
    setItems(next)
  }
  /** False until the stored attachments are loaded; saving earlier would overwrite them. */
  const isLoaded = useRef(false)
  const change = (next: readonly AttachmentFile[]) => {
    show(next)
    if (isLoaded.current) void saveAttachments(me, session, next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: the stored attachments are loaded only once
  useEffect(() => {
    void readAttachments(me, session).then(files => {
      const added = latest.current
      isLoaded.current = true
      if (files.length > 0) show([...files, ...added].slice(0, limits.attachmentsMax))
      // Files that were added before `isLoaded` was true are not saved yet.
      if (added.length > 0) void saveAttachments(me, session, latest.current)
    })
  }, [me, session])
  const addAll = async (files: readonly File[]) => {
    const found: string[] = []
    for (const file of files) {
      const problem = attachmentProblem(file, latest.current) ?? (await add(file))
      if (problem) found.push(problem)
    }
    setProblems(found)
  }
  const add = (file: File): Promise<string | null> =>
    readAttachment(file).then(
      attachment => {
        change([...latest.current, attachment])
        return null
      },
      () => `${file.name} couldn’t be read.`,
    )
  return {
    items,
    problems,
    add: files => void addAll(files),
    remove: attachment => change(latest.current.filter(item => item !== attachment)),
    clearProblems: () => setProblems([]),
  }
}
