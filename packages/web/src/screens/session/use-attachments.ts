/** The files that will go along with the next message, and what was wrong with those that will not. */
import { type Attachment, limits, type SessionId } from '@holdpoint/protocol'
import { useEffect, useRef, useState } from 'react'
import { useGateway } from '../../gateway/gateway-context.ts'
import { readAttachments, saveAttachments } from '../../storage/attachment-storage.ts'
import { readAttachment, refusalOf } from './attachment-rules.ts'

export interface Attachments {
  readonly items: readonly Attachment[]
  readonly refusals: readonly string[]
  readonly add: (files: readonly File[]) => void
  readonly remove: (attachment: Attachment) => void
  /** What was refused is not spoken of any more. */
  readonly forgive: () => void
}

export function useAttachments(session: SessionId): Attachments {
  const { me } = useGateway()
  const [items, setItems] = useState<readonly Attachment[]>([])
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const kept = useRef(items)
  const show = (next: readonly Attachment[]) => {
    kept.current = next
    setItems(next)
  }
  /** Until those of the last time are there, what is added would take their place. */
  const read = useRef(false)
  const change = (next: readonly Attachment[]) => {
    show(next)
    if (read.current) void saveAttachments(me, session, next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once
  useEffect(() => {
    void readAttachments(me, session).then(files => {
      const added = kept.current
      read.current = true
      if (files.length > 0) show([...files, ...added].slice(0, limits.attachmentsMax))
      // Also of a screen that is gone by now.
      if (added.length > 0) void saveAttachments(me, session, kept.current)
    })
  }, [me, session])
  const addAll = async (files: readonly File[]) => {
    const refused: string[] = []
    for (const file of files) {
      const why = refusalOf(file, kept.current) ?? (await take(file))
      if (why) refused.push(why)
    }
    setRefusals(refused)
  }
  const take = (file: File): Promise<string | null> =>
    readAttachment(file).then(
      read => {
        change([...kept.current, read])
        return null
      },
      () => `${file.name} could not be read.`,
    )
  return {
    items,
    refusals,
    add: files => void addAll(files),
    remove: attachment => change(kept.current.filter(item => item !== attachment)),
    forgive: () => setRefusals([]),
  }
}
