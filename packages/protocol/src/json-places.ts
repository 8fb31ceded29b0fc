/** Finds places in the text of a JSON file, so that a problem can be reported with its line and column. The text must be valid JSON. */

export type JsonPath = readonly PropertyKey[]

/** Returns a place of a text as people count: lines and columns start at 1. */
export function lineAndColumn(text: string, offset: number): string {
  const lines = text.slice(0, offset).split('\n')
  return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`
}

/** Returns where the value at a path starts. If the path does not exist, this is where the last existing value on the way starts. */
export function valueOffset(text: string, path: JsonPath): number {
  let at = afterSpace(text, 0)
  for (const part of path) {
    const next = entries(text, at).find(({ name }) => name === part)
    if (!next) break
    at = next.value
  }
  return at
}

/** Returns where the key of a value starts, or the value itself if it has no key. */
export function keyOffset(text: string, path: JsonPath): number {
  const holder = valueOffset(text, path.slice(0, -1))
  return entries(text, holder).find(({ name }) => name === path.at(-1))?.key ?? holder
}

/** Returns where a character of the string at a path is. `index` counts the characters of the string after its escapes are resolved. */
export function characterOffset(text: string, path: JsonPath, index: number): number {
  let at = valueOffset(text, path) + 1
  for (let left = index; left > 0; left--) at += escapeLength(text, at)
  return at
}

/** Returns how long the character at `at` is written inside a string. */
function escapeLength(text: string, at: number): number {
  if (text[at] !== '\\') return 1
  return text[at + 1] === 'u' ? 6 : 2
}

interface Entry {
  readonly name: PropertyKey
  readonly key: number
  readonly value: number
}

/** Returns the entries of the object or list that starts at `start`; none for other values. */
function entries(text: string, start: number): readonly Entry[] {
  const isObject = text[start] === '{'
  if (!isObject && text[start] !== '[') return []
  const found: Entry[] = []
  for (let at = afterSpace(text, start + 1); text[at] !== '}' && text[at] !== ']'; ) {
    const key = at
    if (isObject) at = afterSpace(text, afterSpace(text, endOf(text, at)) + 1)
    found.push({
      name: isObject ? String(JSON.parse(text.slice(key, endOf(text, key)))) : found.length,
      key,
      value: at,
    })
    at = afterSpace(text, endOf(text, at))
    if (text[at] === ',') at = afterSpace(text, at + 1)
  }
  return found
}

function afterSpace(text: string, at: number): number {
  let next = at
  while (next < text.length && ' \t\r\n'.includes(text[next] ?? '')) next++
  return next
}

/** Returns the offset after the value that starts at `start`. */
function endOf(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '"') {
      for (at++; text[at] !== '"'; ) at += escapeLength(text, at)
      if (depth === 0) return at + 1
    } else if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') {
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && ', \t\r\n'.includes(character)) return at
  }
  return text.length
}
