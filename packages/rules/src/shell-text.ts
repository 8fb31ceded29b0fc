/** Splits shell commands roughly, for deny rules: the result may contain too many words, but hardly ever too few. This is not a parser, and an allow rule must not rely on it. */

/** Removes quotes and backslashes, and replaces the variables whose value is known. */
export function plainText(text: string, variables: { readonly HOME: string; readonly PWD: string }): string {
  const unquoted = text.replace(/(?:\\\n|\$(?=['"])|['"\\])+/g, '')
  return unquoted.replace(/\$(?:(HOME|PWD)(?!\w)|\{(HOME|PWD)\})/g, (_, name, braced) => {
    const known: keyof typeof variables = name ?? braced
    return variables[known]
  })
}

/** Decodes percent-encoding such as %2e, for the URLs of files. */
export function percentDecoded(text: string): string {
  return text.replace(/%[0-9a-f]{2}/gi, code => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
}

const word = /[^\s;|&()<>`,=:@{}]+/g

/** Yields everything in the text that could be a path, each once. Options and lists such as `--file=a,b` are split. A caller that needs only the first words does not read the rest. */
export function* wordsOf(text: string): Generator<string> {
  const known = new Set<string>()
  for (const [found] of text.matchAll(word)) {
    if (known.has(found)) continue
    known.add(found)
    yield found
  }
}

/** Returns the simple commands of the text, each as its words. */
export function* simpleCommands(text: string): Generator<readonly string[]> {
  for (const [command] of text.matchAll(/[^;|&\n()`]+/g)) yield command.split(/[\s<>]+/).filter(word => word !== '')
}

/** Returns whether `mention` occurs in the text as a path or name of its own, not as a part of a longer one. */
export function mentions(text: string, mention: string): boolean {
  for (let at = text.indexOf(mention); at >= 0; at = text.indexOf(mention, at + 1)) {
    const before = text[at - 1]
    const after = text[at + mention.length]
    const isStart = before === undefined || !(mention.startsWith('/') ? /[\w.\-/~})$]/ : /[\w.-]/).test(before)
    if (isStart && (after === undefined || !/[\w.-]/.test(after))) return true
  }
  return false
}
