/** The page's files. They are listed once, when the door is built: what is not in the list cannot be asked for, however it is spelt. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { Fault } from '@holdpoint/protocol'
import { faultReply, type Incoming, type Outgoing, sealed } from './exchange.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}

interface Page {
  readonly body: Buffer
  readonly etag: string
}
export type Pages = (incoming: Incoming, path: string) => Promise<Outgoing>

const introduction = `Holdpoint: the place where AI agents stop and ask.
This gateway was started without its page; its API is at /api/v1.
`

export function openPages(folder?: string): Pages {
  const files = folder === undefined ? new Map<string, string>() : listFiles(folder)
  const read = new Map<string, Promise<Page>>()

  return async (incoming, path) => {
    if (path === '/' && folder === undefined) return text(introduction)
    const name = path === '/' ? '/index.html' : path
    const file = files.get(name)
    if (file === undefined) return faultReply(new Fault('not_found', 'There is no such page here.'))
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return faultReply(new Fault('wrong_method', 'A page can only be read.'), ['allow', 'GET, HEAD'])
    const page = await (read.get(name) ?? remember(read, name, load(file)))
    const headers = [...sealed, 'content-type', types[extname(file)] ?? 'application/octet-stream']
    headers.push(
      'etag',
      page.etag,
      'cache-control',
      isHashed(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    )
    const fresh = incoming.header('if-none-match') === page.etag
    return { status: fresh ? 304 : 200, headers, body: fresh ? '' : page.body }
  }
}

function remember(read: Map<string, Promise<Page>>, name: string, page: Promise<Page>): Promise<Page> {
  read.set(name, page)
  page.catch(() => read.delete(name))
  return page
}

async function load(file: string): Promise<Page> {
  const body = await readFile(file)
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
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

function text(body: string): Outgoing {
  return {
    status: 200,
    headers: [...sealed, 'content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'],
    body,
  }
}
