/** Tests which code the built program loads when it starts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const folder = fileURLToPath(new URL('../dist/bundle', import.meta.url))

/** Returns the source files of our packages in these files of the bundle and in all files that they import when they are loaded. */
function sourcesIn(files: readonly string[]): ReadonlySet<string> {
  const waiting = files.map(file => join(folder, file))
  const seen = new Set<string>()
  const sources = new Set<string>()
  for (let file = waiting.pop(); file; file = waiting.pop()) {
    if (seen.has(file)) continue
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    for (const [, source = ''] of text.matchAll(/^\/\/ packages\/(.*\.js)$/gm)) sources.add(source)
    for (const [, path = ''] of text.matchAll(/^(?:import|export)[^'"]*["'](\.[^"']+)["'];?$/gm))
      waiting.push(join(file, '..', path))
  }
  return sources
}

it('a gateway loads neither drivers nor the client at its start, because they would slow the start down', () => {
  const up = readdirSync(folder).filter(file => /^up-.*\.js$/.test(file))
  const sources = [...sourcesIn(['main.js', ...up])]
  expect(sources).toContain('engine/dist/gateway.js')
  const unneeded = sources.filter(source => /^(?:drivers|client)\//.test(source))
  expect(unneeded.sort()).toEqual(['drivers/dist/agent-environment.js', 'drivers/dist/process-start-time.js'])
})
