import { describe, expect, it } from 'vitest'
import { pathParts } from '../../src/text/path.tsx'

describe('pathParts', () => {
  it.each([
    ['/home/ana/src/api', '/home/ana/', 'src/api'],
    ['~/src/api', '~/', 'src/api'],
    ['C:\\work\\src\\api', 'C:\\work\\', 'src\\api'],
    ['/home//ana/src/api/', '/home//ana/', 'src/api/'],
    ['/src/api', '', '/src/api'],
    ['api', '', 'api'],
    ['/', '', '/'],
    ['', '', ''],
    ['/a/b\\u{a}c/d', '/a/', 'b\\u{a}c/d'],
    ['nu\\u{a}Allow?\\u{a}', '', 'nu\\u{a}Allow?\\u{a}'],
    ['C:\\a\\\\\\u{200b}\\b', 'C:\\a\\\\', '\\u{200b}\\b'],
  ])('pathParts splits %j into the head %j and the tail %j', (path, head, tail) => {
    expect(pathParts(path)).toEqual([head, tail])
  })
})
