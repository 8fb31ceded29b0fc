/** Files and pictures that go along with a message: which of them can, and what is said of those that cannot. */
import { type Attachment, limits } from '@holdpoint/protocol'
import { formatCount, formatSize } from '../../text/format-amounts.ts'

const pictures = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** Types that are text although they do not say so. */
const textual =
  /^(?:text\/|application\/(?:json|xml|javascript|typescript|x-sh|x-yaml|yaml|toml|sql)\b|.*\+(?:json|xml)$)/
const textEndings =
  /\.(?:txt|md|log|csv|tsv|json|jsonl|ya?ml|toml|ini|env|conf|xml|html?|css|s?css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|diff|patch|dockerfile|gitignore|lock)$/i

/** Whether a browser may draw it from data that somebody else wrote: no SVG, which is a document. */
export function showable(mediaType: string): boolean {
  return pictures.has(mediaType)
}

/** What a file is to an agent; null: nothing that it could read. */
export function kindOf({ name, type }: Pick<File, 'name' | 'type'>): Pick<Attachment, 'type' | 'mediaType'> | null {
  if (pictures.has(type)) return { type: 'image', mediaType: type }
  if (type === 'application/pdf') return { type: 'document', mediaType: type }
  if (textual.test(type) || textEndings.test(name) || (type === '' && !name.includes('.')))
    return { type: 'document', mediaType: 'text/plain' }
  return null
}

/** Why a file cannot go along with those that are there already, as a sentence; null where it can. */
export function refusalOf(file: Pick<File, 'name' | 'type' | 'size'>, there: readonly Attachment[]): string | null {
  if (!kindOf(file)) return `${file.name} cannot be sent: agents read pictures (PNG, JPEG, GIF, WebP), PDF and text.`
  if (file.size > limits.attachmentMaxBytes)
    return `${file.name} is too large: ${formatSize(file.size)}, and at most ${formatSize(limits.attachmentMaxBytes)} can be sent.`
  if (file.size === 0) return `${file.name} is empty.`
  if (there.length >= limits.attachmentsMax)
    return `${file.name} is one too many: ${formatCount(limits.attachmentsMax, 'file')} can be sent with a message.`
  const encoded = there.reduce((sum, { data }) => sum + data.length, 0) + Math.ceil(file.size / 3) * 4
  // Some room for the message itself.
  if (encoded > limits.attachmentsBodyMaxBytes - 2 * limits.textMax)
    return `${file.name} does not fit: all files of a message together can be ${formatSize(limits.attachmentsBodyMaxBytes / 1.4)}.`
  return null
}

const sliceBytes = 0x8000

export async function readAttachment(file: File): Promise<Attachment> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += sliceBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + sliceBytes))
  const kind = kindOf(file)
  if (!kind) throw new Error(`${file.name} cannot be sent.`)
  return { ...kind, data: btoa(binary), ...(file.name && { name: file.name.slice(-limits.nameMax) }) }
}
