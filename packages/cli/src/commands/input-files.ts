/** Files that a person names: text, JSON, attachments. `-` is what comes in on stdin. */

import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { type Attachment, Fault, type JsonObject, limits, messageOf, parseJsonStrict } from '@holdpoint/protocol'

const stdin = 0

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? stdin : file)
  } catch (error) {
    throw new Fault('bad_input', `${file} cannot be read: ${messageOf(error)}`)
  }
}
export function readText(file: string): string {
  return readBytes(file).toString('utf8')
}

function readJson(file: string): unknown {
  try {
    return parseJsonStrict(readText(file))
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'bad_json') throw error
    throw new Fault(error.code, `${file}: ${error.message}`)
  }
}

export function readObject(file: string, what: string): JsonObject {
  const value = readJson(file)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Fault('bad_input', `${file} must hold ${what} as a JSON object`)
  return value as JsonObject // neither null nor a list, by the line above
}

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Images and PDFs as they are; anything else that is text, as text. */
export function readAttachment(file: string): Attachment {
  const bytes = readBytes(file)
  if (bytes.length > limits.attachmentMaxBytes)
    throw new Fault('bad_input', `${file} is larger than ${limits.attachmentMaxBytes / 1024 / 1024} MiB`)
  const named = { data: bytes.toString('base64'), name: basename(file).slice(0, limits.nameMax) }
  const ending = extname(file).toLowerCase()
  const image = imageTypes[ending]
  if (image) return { type: 'image', mediaType: image, ...named }
  if (ending === '.pdf') return { type: 'document', mediaType: 'application/pdf', ...named }
  if (bytes.includes(0)) throw new Fault('bad_input', `${file} is neither an image, a PDF nor text`)
  return { type: 'document', mediaType: 'text/plain', ...named }
}
