/** Highlights code with highlight.js grammars and maps their scopes to the five colors of `TokenColor`. The grammars are large, so this module is loaded only when needed. */
import c from 'highlight.js/lib/languages/c'
import cpp from 'highlight.js/lib/languages/cpp'
import css from 'highlight.js/lib/languages/css'
import diff from 'highlight.js/lib/languages/diff'
import dockerfile from 'highlight.js/lib/languages/dockerfile'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import javascript from 'highlight.js/lib/languages/javascript'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'
import type { ColoredText, TokenColor } from './token-colors.ts'

type Node = ReturnType<typeof grammars.highlight>['children'][number]

// Registering a grammar also registers its aliases, such as ts, tsx, py, html, yml, rs and md.
const grammars = createLowlight({
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
})

const scopeColors: Readonly<Record<string, TokenColor>> = {
  keyword: 'keyword',
  literal: 'keyword',
  operator: 'keyword',
  selector: 'keyword',
  section: 'keyword',
  deletion: 'keyword',
  string: 'string',
  regexp: 'string',
  addition: 'string',
  char: 'string',
  number: 'number',
  symbol: 'number',
  bullet: 'number',
  title: 'name',
  name: 'name',
  tag: 'name',
  attr: 'name',
  attribute: 'name',
  property: 'name',
  type: 'name',
  built_in: 'name',
  variable: 'name',
  params: 'name',
  class: 'name',
  function: 'name',
  comment: 'quiet',
  doctag: 'quiet',
  meta: 'quiet',
  quote: 'quiet',
}

/** Returns the whole text as colored segments; null if the language is unknown. */
export function highlight(text: string, lang: string): readonly ColoredText[] | null {
  if (!grammars.registered(lang)) return null
  const segments: ColoredText[] = []
  flatten(grammars.highlight(lang, text).children, null, segments)
  return segments
}

function flatten(nodes: readonly Node[], color: TokenColor | null, into: ColoredText[]): void {
  for (const node of nodes) {
    if (node.type === 'text') into.push({ text: node.value, color })
    if (node.type === 'element') flatten(node.children, colorOf(node.properties.className) ?? color, into)
  }
}

/** Returns the color of a token. Its first class name is the scope (`hljs-title`), and the other class names, which refine the scope (`function_`), are ignored. */
function colorOf(names: unknown): TokenColor | null {
  const first: unknown = Array.isArray(names) ? names[0] : null
  const [scope = ''] = String(first)
    .replace(/^hljs-/, '')
    .split('-')
  return scopeColors[scope] ?? null
}
