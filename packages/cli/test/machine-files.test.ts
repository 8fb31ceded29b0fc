/** Checks how the gateway looks at the files of its machine for rules. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { checkFolder, machineFiles, realPath } from '../src/gateway/machine-files.ts'

let folder: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdpoint-files-')))
  mkdirSync(join(folder, 'inner'))
})
afterAll(() => rmSync(folder, { recursive: true }))

it.each([
  ['missing.txt', 'missing.txt'],
  ['missing/folder/file.txt', 'missing/folder/file.txt'],
  ['inner/../missing/file.txt', 'missing/file.txt'],
])(
  'realPath resolves a link to %s, which does not exist, to the path where the file would be created',
  (target, expected) => {
    const link = join(folder, `link-${target.replaceAll('/', '-')}`)
    symlinkSync(target, link)
    expect(realPath(link)).toBe(join(folder, expected))
  },
)

it('realPath returns null for a path that does not exist', () => {
  expect(realPath(join(folder, 'nothing'))).toBeNull()
})

it('checkFolder distinguishes a folder from a file, a missing path and a relative path', async () => {
  writeFileSync(join(folder, 'file'), '')
  const states = await Promise.all(
    ['inner', 'file', 'file/below', 'nothing'].map(name => checkFolder(join(folder, name))),
  )
  expect(states).toEqual(['folder', 'other', 'missing', 'missing'])
  expect(await checkFolder('inner')).toBe('relative')
  expect(await checkFolder('~/project')).toBe('relative')
})

it('readBytes returns the bytes of a file of at most 8 MiB, and null for a larger file and a folder', () => {
  const file = join(folder, 'index')
  writeFileSync(file, Buffer.from([0, 0xe0, 0xff]))
  expect([...(machineFiles.readBytes?.(file) ?? [])]).toEqual([0, 0xe0, 0xff])
  truncateSync(file, 8 * 1024 * 1024 + 1)
  expect(machineFiles.readBytes?.(file)).toBeNull()
  expect(machineFiles.readBytes?.(join(folder, 'inner'))).toBeNull()
})
