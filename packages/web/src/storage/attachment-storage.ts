/** Stores unsent attachments in IndexedDB per person and session, so that attachments survive a reload. Without IndexedDB, attachments are lost when the person leaves the screen. */
import { type AttachmentFile, limits, type SessionId } from '@holdpoint/protocol'
import { createStore, delMany, entries, get, promisifyRequest } from 'idb-keyval'

interface StoredAttachments {
  readonly at: number
  readonly files: readonly AttachmentFile[]
}
const store = createStore('holdpoint', 'unsent-files')
/** Attachments older than this are deleted. */
const storedMs = 7 * 24 * 3600_000

let cleanUp: Promise<void> | undefined

async function deleteExpired(): Promise<void> {
  const all = await entries<IDBValidKey, StoredAttachments>(store)
  const expired = all.filter(([, { at }]) => at < Date.now() - storedMs)
  await delMany(
    expired.map(([key]) => key),
    store,
  )
}

/** Changes the stored attachments and commits at once. idb-keyval's `set` and `del` leave the commit to the browser, which discards the change if the page unloads first. */
async function write(change: (files: IDBObjectStore) => void): Promise<void> {
  await store('readwrite', files => {
    change(files)
    files.transaction.commit()
    return promisifyRequest(files.transaction)
  })
}

export async function readAttachments(me: string, id: SessionId): Promise<readonly AttachmentFile[]> {
  try {
    // A clean-up that fails is repeated when the page is opened again.
    cleanUp ??= deleteExpired().catch(() => {})
    await cleanUp
    const stored = await get<Partial<StoredAttachments>>([me, id], store)
    const files: readonly unknown[] = Array.isArray(stored?.files) ? stored.files : []
    return files.length <= limits.attachmentsMax && files.every(isAttachmentFile) ? files : []
  } catch {
    return []
  }
}

/** Another version of the page may have stored something else. The gateway checks the content of a file when it is sent. */
function isAttachmentFile(value: unknown): value is AttachmentFile {
  const file = value as Partial<AttachmentFile> | null | undefined // every property is checked
  const hasName = file?.name === undefined || typeof file.name === 'string'
  return (
    ['image', 'document'].includes(String(file?.type)) &&
    [file?.mediaType, file?.data].every(text => typeof text === 'string') &&
    hasName
  )
}

/** Saves the attachments, or nothing if the browser refuses or has no space left. */
export async function saveAttachments(me: string, id: SessionId, files: readonly AttachmentFile[]): Promise<void> {
  const stored: StoredAttachments = { at: Date.now(), files }
  const key = [me, id]
  // Without a stored copy, the attachments are lost only if the page is closed before the message is sent.
  await write(all => (files.length > 0 ? all.put(stored, key) : all.delete(key))).catch(() => {})
}

/** Removes this person's attachments. Without IndexedDB, there is nothing to remove. */
export async function removeAttachments(me: string): Promise<void> {
  // IndexedDB sorts arrays after strings, so the range up to [me, []] contains this person's keys for all session ids.
  await write(all => all.delete(IDBKeyRange.bound([me], [me, []]))).catch(() => {})
}
