/** The published types of this package, as the compiler of somebody who writes an agent reads them. */
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const start = resolve(import.meta.dirname, '../dist/index.d.ts')
const importOf = /(?:from|import)[\s(]*['"]([^'"]+)['"]/g

/** Returns the packages that this file of types imports, itself or through other files. */
function importedPackages(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return []
  seen.add(file)
  return [...readFileSync(file, 'utf8').matchAll(importOf)].flatMap(([, name = '']) =>
    name.startsWith('.') ? importedPackages(join(dirname(file), name.replace(/\.(?:ts|js)$/, '.d.ts')), seen) : [name],
  )
}

it('the published types of the drivers package compile without the SDK of Claude Code, which is optional', () => {
  const packages = new Set(importedPackages(start))
  expect(packages).toContain('@holdpoint/protocol')
  expect([...packages].filter(name => name.startsWith('@anthropic-ai/'))).toEqual([])
})
