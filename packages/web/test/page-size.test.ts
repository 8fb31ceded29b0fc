/** Checks how much a browser downloads before it can show the first screen. `npm run build` makes the files. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'

const page = join(import.meta.dirname, '../dist/page')

it('the first screen has one script of at most 150 KB after compression', () => {
  const html = readFileSync(join(page, 'index.html'), 'utf8')
  const scripts = [...html.matchAll(/\/(assets\/[^"]+\.js)"/g)].map(([, file = '']) => file)
  expect(scripts).toHaveLength(1)
  expect(gzipSync(readFileSync(join(page, scripts[0] ?? '')), { level: 9 }).length).toBeLessThan(150_000)
})
