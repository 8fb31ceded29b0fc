/** Checks how wrong tokens and sign-in codes are counted: per source address and in total, in windows of a minute. */
import { Fault, limits } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { sourceOf, WrongAttempts } from '../src/wrong-attempts.ts'

describe('the count of wrong attempts', () => {
  const wrong = new Fault('unauthenticated', 'wrong')

  it('the count of wrong attempts starts again after a minute', () => {
    let now = 0
    const attempts = new WrongAttempts(() => now)
    for (let i = 0; i < limits.wrongAttemptsMax; i++) expect(attempts.refuse('a', wrong)).toBe(wrong)
    expect(attempts.refuse('a', wrong)).toMatchObject({
      code: 'too_many',
      message: expect.stringContaining('in a minute'),
    })
    expect(attempts.refuse('b', wrong)).toBe(wrong)
    now = 59_999
    expect(attempts.refuse('a', wrong).code).toBe('too_many')
    now = 60_000
    for (let i = 0; i < limits.wrongAttemptsMax; i++) expect(attempts.refuse('a', wrong)).toBe(wrong)
    now = 119_999
    expect(attempts.refuse('a', wrong).code).toBe('too_many')
    now = 120_000
    expect(attempts.refuse('a', wrong)).toBe(wrong)
  })

  it('the count of wrong attempts over all sources starts again after a minute too', () => {
    let now = 5
    const attempts = new WrongAttempts(() => now)
    for (let i = 0; i < limits.wrongAttemptsTotalMax; i++) expect(attempts.refuse(`${i}`, wrong)).toBe(wrong)
    expect(attempts.refuse('another', wrong).code).toBe('too_many')
    now = 60_005
    for (let i = 0; i < limits.wrongAttemptsTotalMax; i++) expect(attempts.refuse(`${i}`, wrong)).toBe(wrong)
  })

  it('the count of wrong attempts works with the system clock by default', () => {
    const attempts = new WrongAttempts()
    for (let i = 0; i < limits.wrongAttemptsMax; i++) expect(attempts.refuse('a', wrong)).toBe(wrong)
    expect(attempts.refuse('a', wrong).code).toBe('too_many')
  })
})

it.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::1', '0:0:0:0'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::6', '2001:db8:0:0'],
  ['fe80::1%eth0', 'fe80:0:0:0'],
  ['fe80::1%2', 'fe80:0:0:0'],
  ['1:2:3:4::', '1:2:3:4'],
  ['1:2:3::4:5:6:7', '1:2:3:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4'],
  ['1:2:3:4:5:6:7::', '1:2:3:4'],
  ['::', '0:0:0:0'],
  ['1:2:3:4:5:6:7:8:9', '1:2:3:4'],
  [undefined, 'local'],
])('attempts from the address %s count for the source %s', (address, source) => {
  expect(sourceOf(address)).toBe(source)
})
