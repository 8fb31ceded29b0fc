/** Decides which files can be attached to a message, and says why others can't. */
import { type Attachment, type AttachmentFile, limits } from '@holdpoint/protocol'
import { formatCount, formatSize } from '../../text/format-amounts.ts'

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** Media types whose content is text. */
const textTypes = /^text\/|^application\/(?:json|xml|javascript|typescript|x-sh|x-yaml|yaml|toml|sql)\b|\+(?:json|xml)$/
const textExtensions =
  /\.(?:txt|md|log|csv|tsv|json|jsonl|ya?ml|toml|ini|env|conf|xml|html?|css|s?css|[cm]?[jt]sx?|py|rb|go|rs|java|kt|c|h|cc|cpp|hpp|cs|php|sh|bash|zsh|sql|diff|patch|dockerfile|gitignore|lock)$/i

/** Returns true if the page may display the file as an image. SVG is excluded because an SVG file can contain scripts. */
export function isDisplayableImage(mediaType: string): boolean {
  return imageTypes.has(mediaType)
}

/** Returns how a file is sent to the agent; null if agents can't read this kind of file. */
export function attachmentKind({
  name,
  type,
}: Pick<File, 'name' | 'type'>): Pick<Attachment, 'type' | 'mediaType'> | null {
  if (imageTypes.has(type)) return { type: 'image', mediaType: type }
  if (type === 'application/pdf') return { type: 'document', mediaType: type }
  if (textTypes.test(type) || textExtensions.test(name) || (type === '' && !name.includes('.')))
    return { type: 'document', mediaType: 'text/plain' }
  return null
}

/** Returns a sentence that says why the file can't be attached; null if it can. */
export function attachmentProblem(
  file: Pick<File, 'name' | 'type' | 'size'>,
  existing: readonly AttachmentFile[],
): string | null {
  if (!attachmentKind(file))
    return `${file.name} can’t be attached. Agents can read images (PNG, JPEG, GIF, WebP), PDFs and text files.`
  if (file.size > limits.attachmentMaxBytes)
    return `${file.name} is too large (${formatSize(file.size)}). The limit is ${formatSize(limits.attachmentMaxBytes)}.`
  if (file.size === 0) return `${file.name} is empty.`
  if (existing.length >= limits.attachmentsMax)
    return `${file.name} is one file too many. A message can have at most ${formatCount(limits.attachmentsMax, 'file')}.`
  const total = existing.reduce((sum, { data }) => sum + decodedSize(data), 0) + file.size
  if (total > limits.attachmentsMaxBytes)
    return `${file.name} doesn’t fit. The limit for all files in a message is ${formatSize(limits.attachmentsMaxBytes)}.`
  return null
}

/** Returns the size of a file whose content is given in base64. */
export function decodedSize(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return (data.length / 4) * 3 - padding
}

const chunkBytes = 0x8000

export async function readAttachment(file: File): Promise<AttachmentFile> {
  const bytes = new Uint8Array(await file.arrayBuffer())
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunkBytes)
    binary += String.fromCharCode(...bytes.subarray(at, at + chunkBytes))
  const kind = attachmentKind(file)
  if (!kind) throw new Error(`${file.name} can’t be attached.`)
  return { ...kind, data: btoa(binary), ...(file.name && { name: file.name.slice(-limits.nameMax) }) }
}
