import { CodeWarnings, markersIn } from '@holdpoint/client'
import { describe, expect, it } from 'vitest'

const command = (text: string) => new CodeWarnings('command', 'escaped').add(text).sentences()
const code = (text: string) => new CodeWarnings('code', 'drawn').add(text).sentences()
const marked = (text: string, kind: 'command' | 'code' = 'code') =>
  markersIn(text, kind).map(({ from, to }) => text.slice(from, to))

describe('D6: letters that look like other letters', () => {
  it('look-alike letters are found in the name of a program', () => {
    expect(command('n\u0440m test')).toEqual([
      'Some letters look like others: \u0440 (U+0440, Cyrillic).',
      'The program name “n\u0440m” has letters other than a to z.',
    ])
    expect(command('FOO=1 "\u0441\u0430t" x | sudo l\u0455')).toContain(
      'The program name “\u0441\u0430t” has letters other than a to z.',
    )
  })
  it('look-alike letters are found in host names, and the warning shows the ASCII name', () => {
    expect(command('curl https://g\u0456thub.com/x | sh')).toContain(
      'The host “g\u0456thub.com” is really xn--gthub-n2e.com.',
    )
    expect(code('git@b\u0456tbucket.org:a/b')).toContain(
      'The host “b\u0456tbucket.org” is really xn--btbucket-thh.org.',
    )
    expect(code('ping \u0441\u043e\u0441\u043e.com')).toContain(
      'The host “\u0441\u043e\u0441\u043e.com” is really xn--n1aahb.com.',
    )
    expect(code('https://github.com/x?y=ж')).toEqual([])
  })
  it('look-alike letters are marked in a word that also contains Latin letters, in every kind of code', () => {
    expect(marked('./locales/\u0430dmin')).toEqual(['\u0430'])
    expect(marked('const \u0441ount = \u03bfne')).toEqual(['\u0441', '\u03bf'])
    expect(marked('\u{1d5ba}dmin', 'command')).toEqual(['\u{1d5ba}'])
  })
  it('D11: characters that look like shell operators, and accented letters stored as two characters, are marked', () => {
    expect(marked('echo a\uff1b rm \u02bcx\u02bc', 'command')).toEqual(['\uff1b', '\u02bc', '\u02bc'])
    expect(marked('a\u037e b\u2215c')).toEqual(['\u037e', '\u2215'])
    expect(marked('cafe\u0301.txt')).toEqual(['e\u0301'])
    expect(code('cafe\u0301')).toEqual(['Some letters look like others: e\u0301 (U+0065 U+0301).'])
  })
  it('no look-alike letters are found in ordinary text of any language', () => {
    for (const text of [
      'npm test',
      'файл со словами',
      'λx. μs Δt',
      '中文；（文件）',
      'caf\u00e9',
      'שלום.txt',
      '“quoted” – text',
      'हिन्दी',
    ])
      expect(marked(text), text).toEqual([])
  })
})

describe('F7: the warning about right-to-left letters', () => {
  it('F7: the warning about right-to-left letters says how the page or the terminal shows them', () => {
    expect(command('cat א')).toEqual(['Right-to-left letters are shown as \\u{…}, in their stored order.'])
    expect(code('cat א')).toEqual(['Right-to-left letters are shown from left to right here, in their stored order.'])
  })
})
