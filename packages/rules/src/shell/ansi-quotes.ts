/** Decodes the quotes $'…' of bash, in which a backslash starts an escape sequence. */

const simpleEscapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
}
const escapeSequence = /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|U([\da-fA-F]{1,8})|([0-7]{1,3})|c([\s\S])|([\s\S]))/g

export function ansiUnquoted(quoted: string): string {
  return ansiDecoded(quoted.replace(/^\$'|'$/g, ''))
}

/** Decodes the escape sequences of a text. */
export function ansiDecoded(text: string): string {
  return text.replace(escapeSequence, (_, hex, short, long, octal, control, simple) => {
    const code = hex ?? short ?? long
    if (code !== undefined) return fromCode(Number.parseInt(code, 16))
    if (octal !== undefined) return fromCode(Number.parseInt(octal, 8) & 0xff)
    if (control !== undefined) return fromCode(control.charCodeAt(0) & 0x1f)
    return simpleEscapes[simple] ?? simple
  })
}

function fromCode(code: number): string {
  return code > 0x10ffff ? '' : String.fromCodePoint(code)
}
