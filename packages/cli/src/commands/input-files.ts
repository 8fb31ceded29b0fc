/** Reads the files that options name: text, JSON and attachments. `-` means stdin. */
import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { type AttachmentFile, Fault, type JsonObject, limits, messageOf, parseJsonStrict } from '@holdpoint/protocol'
import { inputTexts } from './texts.ts'

const stdin = 0

function readBytes(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? stdin : file)
  } catch (error) {
    throw new Fault('bad_input', inputTexts.unreadable(file, messageOf(error)))
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
    throw new Fault('bad_input', inputTexts.notAnObject(file, what))
  return value as JsonObject // the check above excludes null and arrays
}

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Sends images and PDFs unchanged, and any other file as text unless it is binary. */
export function readAttachment(file: string): AttachmentFile {
  const bytes = readBytes(file)
  if (bytes.length === 0) throw new Fault('bad_input', inputTexts.emptyFile(file))
  if (bytes.length > limits.attachmentMaxBytes)
    throw new Fault('bad_input', inputTexts.tooLarge(file, limits.attachmentMaxBytes / 1024 / 1024))
  const content = { data: bytes.toString('base64'), name: basename(file).slice(0, limits.nameMax).toWellFormed() }
  const extension = extname(file).toLowerCase()
  const image = imageTypes[extension]
  if (image) return { type: 'image', mediaType: image, ...content }
  if (extension === '.pdf') return { type: 'document', mediaType: 'application/pdf', ...content }
  if (bytes.includes(0)) throw new Fault('bad_input', inputTexts.unknownFileType(file))
  return { type: 'document', mediaType: 'text/plain', ...content }
}
