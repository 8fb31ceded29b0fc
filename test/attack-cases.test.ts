/** Checks that every test that docs/attack-cases.md names exists. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/attack-cases.md'), 'utf8')

/** Returns the table cells as pairs of a test file and the names that follow it, up to the next file. */
function citations(text: string): { readonly file: string; readonly names: readonly string[] }[] {
  return text
    .split('\n')
    .filter(line => line.startsWith('|'))
    .flatMap(line => line.split(/(?=`[\w./-]+\.test\.ts`)/).slice(1))
    .map(part => ({
      file: /`([^`]+)`/.exec(part)?.[1] ?? '',
      names: [...part.matchAll(/“([^”]+)”/g)].map(match => match[1] ?? ''),
    }))
}

it('docs/attack-cases.md names at least one test for every file that it cites', () => {
  const cited = citations(page)
  expect(cited.length).toBeGreaterThan(40)
  expect(cited.filter(({ names }) => names.length === 0)).toEqual([])
})

it('docs/attack-cases.md names only tests that exist', () => {
  const missing = citations(page).flatMap(({ file, names }) => {
    if (!existsSync(join(root, file))) return [file]
    const source = readFileSync(join(root, file), 'utf8')
    return names.filter(name => !source.includes(name)).map(name => `${file}: ${name}`)
  })
  expect(missing).toEqual([])
})
