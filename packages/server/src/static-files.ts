/** Serves the files of the page. The folder is listed once at start, so no path can reach a file outside the folder. Each file is read and compressed once. */
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { Fault } from '@holdpoint/protocol'
import { faultReply, type IncomingRequest, type OutgoingReply, securityHeaders } from './http-message.ts'

/** The media type of each file extension, and whether compression makes files of this type smaller. */
const mediaTypes: Readonly<Record<string, { readonly type: string; readonly isCompressible: boolean }>> = {
  '.html': { type: 'text/html; charset=utf-8', isCompressible: true },
  '.js': { type: 'text/javascript; charset=utf-8', isCompressible: true },
  '.css': { type: 'text/css; charset=utf-8', isCompressible: true },
  '.json': { type: 'application/json', isCompressible: true },
  '.map': { type: 'application/json', isCompressible: true },
  '.webmanifest': { type: 'application/manifest+json', isCompressible: true },
  '.svg': { type: 'image/svg+xml', isCompressible: true },
  '.txt': { type: 'text/plain; charset=utf-8', isCompressible: true },
  '.png': { type: 'image/png', isCompressible: false },
  '.ico': { type: 'image/x-icon', isCompressible: false },
  '.woff2': { type: 'font/woff2', isCompressible: false },
}
const unknownMediaType = { type: 'application/octet-stream', isCompressible: false }

/** The supported encodings, in order of preference. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]
const compress: Readonly<Record<Encoding, (body: Buffer) => Promise<Buffer>>> = {
  // Quality 9 compresses nearly as well as the maximum of 11 and is much faster. The first visitor has to wait for the compression.
  br: body => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: body => promisify(gzip)(body),
}

/** The content of a file, either plain or in one encoding. */
interface CachedFile {
  readonly body: Buffer
  readonly etag: string
}
export type StaticFiles = (incoming: IncomingRequest, path: string) => Promise<OutgoingReply>

const noPageText = `Holdpoint: where AI agents stop and ask.
This gateway runs without its web page. The API is at /api/v1.
`

export function openStaticFiles(folder?: string): StaticFiles {
  const files = folder === undefined ? new Map<string, string>() : listFiles(folder)
  const cache = new Map<string, Promise<CachedFile>>()

  return async (incoming, path) => {
    if (path === '/' && folder === undefined) return textReply(noPageText)
    const name = path === '/' ? '/index.html' : path
    const file = files.get(name)
    if (file === undefined) return faultReply(new Fault('not_found', 'There is no such file.'))
    if (incoming.method !== 'GET' && incoming.method !== 'HEAD')
      return faultReply(new Fault('wrong_method', 'Files of the page can only be read. Use GET or HEAD.'), [
        'allow',
        'GET, HEAD',
      ])
    const { type, isCompressible } = mediaTypes[extname(file)] ?? unknownMediaType
    const encoding = isCompressible ? acceptedEncoding(incoming.header('accept-encoding') ?? '') : null
    const key = `${encoding ?? ''} ${name}`
    const cached = await (cache.get(key) ?? addToCache(cache, key, load(file, encoding)))
    const headers = [...securityHeaders, 'content-type', type, 'etag', cached.etag]
    headers.push('cache-control', isHashed(name) ? 'public, max-age=31536000, immutable' : 'no-cache')
    if (isCompressible) headers.push('vary', 'accept-encoding')
    if (encoding) headers.push('content-encoding', encoding)
    const isFresh = incoming.header('if-none-match') === cached.etag
    return { status: isFresh ? 304 : 200, headers, body: isFresh ? '' : cached.body }
  }
}

function addToCache(
  cache: Map<string, Promise<CachedFile>>,
  key: string,
  loading: Promise<CachedFile>,
): Promise<CachedFile> {
  cache.set(key, loading)
  loading.catch(() => cache.delete(key))
  return loading
}

async function load(file: string, encoding: Encoding | null): Promise<CachedFile> {
  const content = await readFile(file)
  const body = encoding ? await compress[encoding](content) : content
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}

/** Returns the preferred encoding among those that the Accept-Encoding header lists and does not refuse with `q=0`, or null. */
function acceptedEncoding(header: string): Encoding | null {
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

/** Returns whether the file name contains a hash of the content, which the bundler adds. */
function isHashed(name: string): boolean {
  return name.startsWith('/assets/') && /-[\w-]{8}\.\w{1,8}$/.test(name)
}

function textReply(body: string): OutgoingReply {
  return {
    status: 200,
    headers: [...securityHeaders, 'content-type', 'text/plain; charset=utf-8', 'cache-control', 'no-store'],
    body,
  }
}
