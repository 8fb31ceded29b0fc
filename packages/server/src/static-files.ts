/** The page's files. They are listed once, when the door is built: what is not in the list cannot be asked for, however it is spelt. Each is read and compressed once. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Fault } from '@holdpoint/protocol'
import { faultReply, type IncomingRequest, type OutgoingReply, securityHeaders } from './http-message.ts'

/** By extension; and whether it becomes smaller when it is compressed. */
const types: Readonly<Record<string, { readonly type: string; readonly packs: boolean }>> = {
  '.html': { type: 'text/html; charset=utf-8', packs: true },
  '.js': { type: 'text/javascript; charset=utf-8', packs: true },
  '.css': { type: 'text/css; charset=utf-8', packs: true },
  '.json': { type: 'application/json', packs: true },
  '.map': { type: 'application/json', packs: true },
  '.webmanifest': { type: 'application/manifest+json', packs: true },
  '.svg': { type: 'image/svg+xml', packs: true },
  '.txt': { type: 'text/plain; charset=utf-8', packs: true },
  '.png': { type: 'image/png', packs: false },
  '.ico': { type: 'image/x-icon', packs: false },
  '.woff2': { type: 'font/woff2', packs: false },
}
const unknownType = { type: 'application/octet-stream', packs: false }

/** In the order in which they are preferred. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]
const pack: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  // A level below the best is nearly as small, and does not keep the first visitor waiting.
  br: body => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: body => promisify(gzip)(body),
}

/** A file as it is sent: as it is, or packed in one way. */
interface Page {
  readonly body: Buffer
  readonly etag: string
}
export type StaticFiles = (incoming: IncomingRequest, path: string) => Promise<OutgoingReply>

const introduction = `Holdpoint: the place where AI agents stop and ask.
This gateway was started without its page; its API is at /api/v1.
`

export function openStaticFiles(folder?: string): StaticFiles {
  const files = folder === undefined ? new Map<string, string>() : listFiles(folder)
  const kept = new Map<string, Promise<Page>>()

  return async (incoming, path) => {
    if (path === '/' && folder === undefined) return text(introduction)
    const name = path === '/' ? '/index.html' : path
    const file = files.get(name)
    if (file === undefined) return faultReply(new Fault('not_found', 'There is no such page here.'))
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return faultReply(new Fault('wrong_method', 'A page can only be read.'), ['allow', 'GET, HEAD'])
    const { type, packs } = types[extname(file)] ?? unknownType
    const encoding = packs ? accepted(incoming.header('accept-encoding') ?? '') : null
    const key = `${encoding ?? ''} ${name}`
    const page = await (kept.get(key) ?? keep(kept, key, load(file, encoding)))
    const headers = [...securityHeaders, 'content-type', type, 'etag', page.etag]
    headers.push('cache-control', isHashed(name) ? 'public, max-age=31536000, immutable' : 'no-cache')
    if (packs) headers.push('vary', 'accept-encoding')
    if (encoding) headers.push('content-encoding', encoding)
    const fresh = incoming.header('if-none-match') === page.etag
    return { status: fresh ? 304 : 200, headers, body: fresh ? '' : page.body }
  }
}

function keep(kept: Map<string, Promise<Page>>, key: string, page: Promise<Page>): Promise<Page> {
  kept.set(key, page)
  page.catch(() => kept.delete(key))
  return page
}

async function load(file: string, encoding: Encoding | null): Promise<Page> {
  const plain = await readFile(file)
  const body = encoding ? await pack[encoding](plain) : plain
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** What the browser accepts by name, and does not refuse by a weight of zero. */
function accepted(header: string): Encoding | null {
  const names = header
    .toLowerCase()
    .split(',')
    .filter(item => !/;\s*q=0(?:\.0*)?\s*$/.test(item))
    .map(item => item.split(';')[0]?.trim())
  return encodings.find(encoding => names.includes(encoding)) ?? null
}

function listFiles(folder: string): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.name.startsWith('.'))
    .map(entry => join(entry.parentPath, entry.name))
  return new Map(files.map(file => [`/${relative(folder, file).split(sep).join('/')}`, file]))
}

/** Names that carry a hash of their content, as the bundler writes them. */
function isHashed(name: string): boolean {
  return /^\/assets\/.+-[\w-]{8,}\.\w+$/.test(name)
}

function text(body: string): OutgoingReply {
  return {
    status: 200,
    headers: [...securityHeaders, 'content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'],
    body,
  }
}
