/** Tests that Holdpoint's own credentials are recognized and masked, and that nothing else is. */
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leastCpuMs } from '../../../test/support/cpu-time.ts'
import { hasCredential, maskCredentials, newSecret, possibleSecrets, shownLength } from '../src/index.ts'

const secret = 'hp_Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG'
const link = 'hp_Abcdefghijklmnopqrstuvwxyz012345'
const mask = (length: number) => `hp_${'•'.repeat(length)}`

describe('maskCredentials', () => {
  it.each([
    ['alone', secret, mask(43)],
    ['in a sentence', `The token is ${secret}.`, `The token is ${mask(43)}.`],
    ['in a header', `authorization: Bearer ${secret}\r\n`, `authorization: Bearer ${mask(43)}\r\n`],
    ['in a URL', `http://localhost:4747/#code=${link}&x=1`, `http://localhost:4747/#code=${mask(32)}&x=1`],
    ['in JSON text', `{"token":"${secret}"}`, `{"token":"${mask(43)}"}`],
    ['after letters', `TOKEN${secret}`, `TOKEN${mask(43)}`],
    ['before letters', `${secret}abc`, `${mask(43)}abc`],
    ['twice', `${secret} ${secret}`, `${mask(43)} ${mask(43)}`],
  ])('maskCredentials masks a secret %s', (_where, text, expected) => {
    const { value, found } = maskCredentials(text)
    expect(value).toBe(expected)
    expect(value).toHaveLength(text.length)
    expect(found.size).toBe(1)
  })

  it('maskCredentials masks texts and names at any depth of a JSON value, and changes nothing else', () => {
    const value = { a: [1, null, { b: `x ${secret}` }], [secret]: true, c: 'hp_ is our prefix' }
    expect(maskCredentials(value).value).toEqual({
      a: [1, null, { b: `x ${mask(43)}` }],
      [mask(43)]: true,
      c: 'hp_ is our prefix',
    })
  })

  it.each([
    'hp_short',
    'hp_laserjet_professional_p1102w_printer_driver_settings',
    'HP_ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789_ABCDEF',
    'sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'https://example.com/hp_/Abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG',
    '',
  ])('maskCredentials does not mask %j', text => {
    const { value, found } = maskCredentials(text)
    expect([value, found.size]).toEqual([text, 0])
  })

  it('maskCredentials returns the same object if there is nothing to mask', () => {
    const value = { a: [{ b: 'hp_x' }] }
    expect(maskCredentials(value).value).toBe(value)
  })

  it('maskCredentials masks every secret that Holdpoint makes', () => {
    for (const bytes of [24, 32])
      for (let i = 0; i < 2000; i++) {
        const made = newSecret(randomBytes, bytes)
        expect(maskCredentials(`x${made} y`).found).toEqual(new Set([made]))
      }
  })

  it.each([
    ['prefixes', 'hp_'],
    ['names', `hp_${'a'.repeat(43)}`],
    ['secrets', `${secret} `],
    ['letters', 'h'],
  ])('X6: maskCredentials masks 900 KB of %s in less than 50 ms', (_what, part) => {
    const text = part.repeat(900_000 / part.length)
    const mask = () => [maskCredentials({ a: { b: [text] } }), shownLength(text)]
    expect(leastCpuMs(mask)).toBeLessThan(50)
  })
})

describe('hasCredential', () => {
  it('hasCredential finds a secret and a masked secret at any depth', () => {
    expect([{ a: [secret] }, { [secret]: 1 }, mask(43), { a: mask(32) }].map(hasCredential)).toEqual(
      Array(4).fill(true),
    )
    expect([{ a: ['x'] }, 'hp_•••', null, 3].map(hasCredential)).toEqual(Array(4).fill(false))
  })
})

describe('shownLength', () => {
  it('shownLength excludes the start of a possible secret at the end of a text', () => {
    for (let length = 1; length < secret.length; length++) expect(shownLength(`ab ${secret.slice(0, length)}`)).toBe(3)
    expect(shownLength(`ab ${secret}`)).toBe(3 + secret.length)
    expect(shownLength(`ab ${secret.slice(0, 20)} c`)).toBe(25)
    expect(shownLength('')).toBe(0)
  })

  it('shownLength never reveals a secret, however the text is split', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(60), { maxLength: 12 }), sizes => {
        const text = `start ${secret} middle hp_x ${link}, end`
        let [shown, held, at] = ['', '', 0]
        for (const size of [...sizes, text.length]) {
          const all = held + text.slice(at, at + size)
          at += size
          const length = shownLength(all)
          shown += maskCredentials(all.slice(0, length)).value
          held = all.slice(length)
          // Not even a large part of a secret may be shown.
          expect(shown).not.toMatch(/hp_[A-Za-z0-9]{6}/)
        }
        expect(shown + held).toBe(`start ${mask(43)} middle hp_x ${mask(32)}, end`)
      }),
    )
  })
})

it('possibleSecrets also returns the code of a link that other letters follow', () => {
  expect(possibleSecrets(`${link}abc`)).toEqual([`${link}abc`, link])
})
