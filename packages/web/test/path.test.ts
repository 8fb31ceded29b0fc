import { describe, expect, it } from 'vitest'
import { pathParts } from '../src/text/path.tsx'

describe('a path in one line', () => {
  it.each([
    ['/home/ana/src/api', '/home/ana/', 'src/api'],
    ['~/src/api', '~/', 'src/api'],
    ['C:\\work\\src\\api', 'C:\\work\\', 'src\\api'],
    ['/home//ana/src/api/', '/home//ana/', 'src/api/'],
    ['/src/api', '', '/src/api'],
    ['api', '', 'api'],
    ['/', '', '/'],
    ['', '', ''],
  ])('%s keeps its last folders', (path, head, tail) => {
    expect(pathParts(path)).toEqual([head, tail])
  })
})
