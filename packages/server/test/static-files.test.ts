/** Checks the files of the page over real HTTP: which files are served, caching, compression and security headers. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apiRoot } from '@holdpoint/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw, startTestServer, type TestServer } from './test-server.ts'

const scriptPath = '/assets/app-B1c2D3e4.js'
const script = 'export const labels = "allow, deny, ask again"\n'.repeat(200)
const headersOf = (reply: Response, ...names: string[]) => names.map(name => reply.headers.get(name))
const hostAndClose = ({ port }: TestServer) => `Host: localhost:${port}\r\nConnection: close\r\n\r\n`

describe('the web page', () => {
  let folder: string
  let withPage: TestServer
  let withoutPage: TestServer
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdpoint-page-'))
    await mkdir(join(folder, 'page/assets'), { recursive: true })
    await writeFile(join(folder, 'secret.txt'), 'not for the page')
    await writeFile(join(folder, 'page/.hidden'), 'hidden')
    await writeFile(join(folder, 'page/index.html'), '<!doctype html><title>Holdpoint</title>')
    await writeFile(join(folder, 'page/assets/app-B1c2D3e4.js'), script)
    await writeFile(join(folder, 'page/sw.js'), 'self.skipWaiting()')
    await writeFile(join(folder, 'page/app.webmanifest'), '{"name":"Holdpoint"}')
    await writeFile(join(folder, 'page/icon.png'), Buffer.alloc(4096))
    withPage = await startTestServer({ staticDir: join(folder, 'page') })
    withoutPage = await startTestServer()
  })
  afterAll(async () => {
    await withPage.close()
    await withoutPage.close()
    await rm(folder, { recursive: true })
  })

  it('the web page is served at the root without a credential, even from a link on another site', async () => {
    const reply = await fetch(`${withPage.url}/`, {
      headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    })
    expect(await reply.text()).toContain('<title>Holdpoint</title>')
    expect(reply.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const again = await fetch(`${withPage.url}/`, { headers: { 'if-none-match': reply.headers.get('etag') ?? '' } })
    expect([again.status, again.headers.get('cache-control')]).toEqual([304, 'no-cache'])
  })
  it('the web page lets browsers cache files with a hash in their name forever', async () => {
    const reply = await fetch(`${withPage.url}${scriptPath}`)
    expect(reply.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(reply.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
  })
  it('the web page can be installed: its manifest and service worker are served with no-cache', async () => {
    const worker = await fetch(`${withPage.url}/sw.js`, { headers: { 'sec-fetch-dest': 'serviceworker' } })
    const manifest = await fetch(`${withPage.url}/app.webmanifest`)
    expect(
      [worker, manifest].map(reply => [reply.status, ...headersOf(reply, 'content-type', 'cache-control')]),
    ).toEqual([
      [200, 'text/javascript; charset=utf-8', 'no-cache'],
      [200, 'application/manifest+json', 'no-cache'],
    ])
  })
  it('the web page is sent in the best encoding that the browser accepts, or uncompressed', async () => {
    const cases: [string, string | null][] = [
      ['gzip, deflate, br, zstd', 'br'],
      ['gzip, deflate', 'gzip'],
      ['GZIP;q=0.5', 'gzip'],
      ['br;q=0, gzip;q=1.0', 'gzip'],
      ['br; q=0.000 , gzip;q=0', null],
      ['brotli, x-gzip', null],
      ['identity', null],
    ]
    const etags = new Map<string | null, string | null>()
    for (const [accept, encoding] of cases) {
      const get = (more = {}) =>
        fetch(`${withPage.url}${scriptPath}`, { headers: { 'accept-encoding': accept, ...more } })
      const reply = await get()
      const [contentEncoding, vary, length, etag] = headersOf(
        reply,
        'content-encoding',
        'vary',
        'content-length',
        'etag',
      )
      expect([contentEncoding, vary], accept).toEqual([encoding, 'accept-encoding'])
      expect(Number(length) < script.length, accept).toBe(encoding !== null)
      expect(await reply.text(), accept).toBe(script)
      etags.set(encoding, etag ?? null)
      expect((await get({ 'if-none-match': etag })).status).toBe(304)
    }
    expect(new Set(etags.values()).size).toBe(3)
    const icon = await fetch(`${withPage.url}/icon.png`, { headers: { 'accept-encoding': 'br, gzip' } })
    expect(headersOf(icon, 'content-encoding', 'vary', 'content-length')).toEqual([null, null, '4096'])
  })
  it('the web page is compressed once and then served from the cache', async () => {
    const get = () =>
      sendRaw(withPage.port, `GET ${scriptPath} HTTP/1.1\r\nAccept-Encoding: br\r\n${hostAndClose(withPage)}`)
    const [first, second] = [await get(), await get()]
    await writeFile(join(folder, `page${scriptPath}`), 'changed on disk')
    const dateless = (text: string) => text.replace(/\r\nDate: .*/i, '')
    expect(dateless(second)).toBe(dateless(first))
    expect(dateless(await get())).toBe(dateless(first))
    await writeFile(join(folder, `page${scriptPath}`), script)
  })
  it('the web page does not make files outside its folder or hidden files available', async () => {
    const paths = [
      '/../secret.txt',
      '/assets/../../secret.txt',
      '/%2e%2e/secret.txt',
      '/..%2fsecret.txt',
      '/.hidden',
      '/assets',
      '/assets/',
      '//index.html',
      '/index.html/',
      '/..\\secret.txt',
      '/%00',
    ]
    for (const path of paths)
      expect(await sendRaw(withPage.port, `GET ${path} HTTP/1.1\r\n${hostAndClose(withPage)}`), path).toMatch(
        /^HTTP\/1.1 404/,
      )
    expect((await fetch(`${withPage.url}/index.html`, { method: 'POST' })).status).toBe(405)
  })
  it('the web page is replaced by a plain-text reply if the gateway runs without the page', async () => {
    const reply = await fetch(`${withoutPage.url}/`)
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(await reply.text()).toContain('where AI agents stop and ask')
  })
  it('the web page has the same security headers as every other reply', async () => {
    const policy =
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    for (const path of ['/', '/nothing', '/healthz', `${apiRoot}/me`, `${apiRoot}/nothing`, scriptPath]) {
      const { headers } = await fetch(`${withPage.url}${path}`)
      expect(headers.get('content-security-policy'), path).toBe(policy)
      expect(headers.get('x-content-type-options'), path).toBe('nosniff')
      expect(headers.get('referrer-policy'), path).toBe('no-referrer')
      expect(headers.get('cross-origin-opener-policy'), path).toBe('same-origin')
      expect(headers.get('cross-origin-resource-policy'), path).toBe('same-origin')
      expect(headers.get('x-frame-options'), path).toBe('DENY')
      if (path.startsWith(apiRoot)) expect(headers.get('cache-control'), path).toBe('no-store')
    }
  })
})
