/** Checks the cookie that keeps a browser signed in: its attributes, and that only one cookie of this gateway counts. */
import { describe, expect, it } from 'vitest'
import { formatSignInCookie, parseSignInCookie } from '../src/sign-in-cookie.ts'

describe('the sign-in cookie', () => {
  const cookie = { port: 4747, secret: 'abc', ttlMs: 60_999, secure: false }
  it('the sign-in cookie is named after the port, and scripts and other sites cannot use it', () => {
    expect(formatSignInCookie(cookie)).toBe('holdpoint_4747=abc; HttpOnly; SameSite=Strict; Path=/; Max-Age=60')
  })
  it('the sign-in cookie is sent only over https if the page was opened over https', () => {
    expect(formatSignInCookie({ ...cookie, secure: true })).toMatch(/; Max-Age=60; Secure$/)
  })
})

describe('the secret in a Cookie header', () => {
  it.each([
    ['holdpoint_4747=abc', 'abc'],
    ['other=1;holdpoint_4747=abc ; more=2', 'abc'],
    ['  holdpoint_4747=abc', 'abc'],
    ['holdpoint_4747=a=b', 'a=b'],
    ['holdpoint_4747=', ''],
    ['holdpoint_4747=abc; holdpoint_4747=abc', null],
    ['holdpoint_47470=abc', null],
    ['xholdpoint_4747=abc', null],
    ['holdpoint_1=abc', null],
    ['x=holdpoint_4747=abc', null],
    ['', null],
    [undefined, null],
  ])('the secret read from the Cookie header %j is %j', (header, secret) => {
    expect(parseSignInCookie(header, 4747)).toBe(secret)
  })
})
