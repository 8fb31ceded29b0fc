/** The files that will go along with the next message, and what was wrong with those that will not. */
import { type Attachment, limits, type SessionId } from '@holdpoint/protocol'
import { useEffect, useRef, useState } from 'react'
import { useDesk } from '../desk.ts'
import { readAttachment, refusalOf } from './attach.ts'
import { keepFiles, readFiles } from './kept-files.ts'

export interface Attachments {
  readonly items: readonly Attachment[]
  readonly refusals: readonly string[]
  readonly add: (files: readonly File[]) => void
  readonly remove: (attachment: Attachment) => void
}

export function useAttachments(session: SessionId): Attachments {
  const { me } = useDesk()
  const [items, setItems] = useState<readonly Attachment[]>([])
  const [refusals, setRefusals] = useState<readonly string[]>([])
  const kept = useRef(items)
  const show = (next: readonly Attachment[]) => {
    kept.current = next
    setItems(next)
  }
  const change = (next: readonly Attachment[]) => {
    show(next)
    void keepFiles(me, session, next)
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: read once
  useEffect(() => {
    let left = false
    void readFiles(me, session).then(
      files => !left && files.length > 0 && show([...files, ...kept.current].slice(0, limits.attachmentsMax)),
    )
    return () => {
      left = true
    }
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
  }
}
