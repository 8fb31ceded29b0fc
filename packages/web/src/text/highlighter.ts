/**
 * Highlights code in the common languages: comments, strings, numbers, keywords and names. Each pattern reads the text
 * once from its start to its end. The usual libraries, which have a full syntax definition for each language, need seconds for
 * some short texts, and an agent could freeze the page with such a text.
 */
import { highlightShell, isShell } from './shell-highlighter.ts'
import type { ColoredText, TokenColor } from './token-colors.ts'

/** Named groups of a pattern, and their colors. Every character that no group matches has the default color. */
const groupColors: Readonly<Record<string, TokenColor>> = {
  comment: 'quiet',
  string: 'string',
  number: 'number',
  keyword: 'keyword',
  name: 'name',
}

/** Sources of patterns. An unclosed string ends at its line, an unclosed comment at the end of the text. */
const slashComment = '\\/\\/[^\\n]*'
const blockComment = '\\/\\*[\\s\\S]*?(?:\\*\\/|$)'
const hashComment = '#[^\\n]*'
const doubleQuoted = '"(?:\\\\.|[^"\\\\\\n])*"?'
const singleQuoted = "'(?:\\\\.|[^'\\\\\\n])*'?"
const template = '`(?:\\\\[\\s\\S]|[^`\\\\])*`?'
const number = '(?<number>\\b\\d[\\w.]*)'
const word = '(?<word>[A-Za-z_$][\\w$]*)'

function pattern(comment: string, string: string, ...more: readonly string[]): RegExp {
  return new RegExp([`(?<comment>${comment})`, `(?<string>${string})`, ...more, number, word].join('|'), 'g')
}

interface Grammar {
  readonly pattern: RegExp
  readonly keywords?: ReadonlySet<string>
  /** True if keywords may be written in capitals. */
  readonly ignoresCase?: boolean
  /** True if a string or word before a colon is a name. */
  readonly hasKeys?: boolean
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(' '))
}

const braces: Grammar = {
  pattern: pattern(`${slashComment}|${blockComment}`, `${doubleQuoted}|${singleQuoted}|${template}`),
  keywords: words(
    'abstract as async await bool boolean break case catch chan char class const continue default defer delete do double dyn else enum export extends extern false final finally float fn for from func function go goto if impl implements import in inline instanceof int interface let long loop match mod move mut namespace new nil null nullptr of operator override package private protected pub public range readonly return satisfies select self short signed sizeof static struct super switch template this throw throws trait true try type typedef typename typeof undefined union unsafe unsigned use using var virtual void volatile where while yield',
  ),
}
const python: Grammar = {
  pattern: pattern(hashComment, `"""[\\s\\S]*?(?:"""|$)|'''[\\s\\S]*?(?:'''|$)|${doubleQuoted}|${singleQuoted}`),
  keywords: words(
    'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield',
  ),
}
const json: Grammar = {
  pattern: pattern(`${slashComment}|${blockComment}`, doubleQuoted),
  keywords: words('true false null'),
  hasKeys: true,
}
const yaml: Grammar = {
  pattern: pattern(`(?<![^\\s])${hashComment}`, `${doubleQuoted}|${singleQuoted}`),
  keywords: words('true false null yes no'),
  hasKeys: true,
}
const css: Grammar = {
  pattern: pattern(blockComment, `${doubleQuoted}|${singleQuoted}`, '(?<keyword>@[\\w-]+|![\\w]+)'),
  hasKeys: true,
}
const sql: Grammar = {
  pattern: pattern(`--[^\\n]*|${blockComment}`, singleQuoted, `(?<name>${doubleQuoted})`),
  keywords: words(
    'add all alter and as asc begin by cascade case check column commit constraint create cross database default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right rollback select set table then union unique update using values view when where with',
  ),
  ignoresCase: true,
}
const dockerfile: Grammar = {
  pattern: pattern(hashComment, `${doubleQuoted}|${singleQuoted}`),
  keywords: words('ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL USER VOLUME WORKDIR AS'),
}
const markup: Grammar = {
  pattern: /(?<comment><!--[\s\S]*?(?:-->|$))|(?<name><\/?[\w:-]+|\/?>)|(?<string>"[^"\n]*"?)|(?<keyword>&\w+;)/g,
}
const diff: Grammar = { pattern: /(?<string>^\+[^\n]*)|(?<keyword>^-[^\n]*)|(?<comment>^@@[^\n]*)/gm }
const markdown: Grammar = {
  pattern:
    /(?<keyword>^#{1,6} [^\n]*)|(?<comment>^>[^\n]*)|(?<number>^ {0,8}[-*+] |^ {0,8}\d{1,9}[.)] )|(?<string>`[^`\n]*`)/gm,
}

const grammars: Readonly<Record<string, Grammar>> = Object.fromEntries(
  [
    [
      braces,
      'c h cpp cc hpp c++ cs csharp java js javascript jsx mjs cjs ts typescript tsx mts cts go rust rs kotlin kt swift scala php dart',
    ],
    [python, 'python py'],
    [json, 'json json5 jsonc'],
    [yaml, 'yaml yml toml ini'],
    [css, 'css scss less'],
    [sql, 'sql'],
    [dockerfile, 'dockerfile docker'],
    [markup, 'xml html svg vue'],
    [diff, 'diff patch'],
    [markdown, 'markdown md'],
  ].flatMap(([grammar, names]) => (names as string).split(' ').map(name => [name, grammar as Grammar])), // each row of the list has a language definition and a string
)

/** Returns the language of a file by its name; undefined if it is unknown. */
export function languageOf(path: string): string | undefined {
  const name = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1).toLowerCase()
  const ending = name.slice(name.lastIndexOf('.') + 1)
  return Object.hasOwn(grammars, ending) || isShell(ending) ? ending : undefined
}

/** Returns the whole text as colored segments; null if the language is unknown. */
export function highlight(text: string, lang: string): readonly ColoredText[] | null {
  if (isShell(lang)) return highlightShell(text)
  const grammar = Object.hasOwn(grammars, lang) ? grammars[lang] : undefined
  if (!grammar) return null
  const segments: ColoredText[] = []
  let end = 0
  for (const match of text.matchAll(grammar.pattern)) {
    const color = colorOf(match, text, grammar)
    if (color === null || match[0] === '') continue
    if (match.index > end) segments.push({ text: text.slice(end, match.index), color: null })
    segments.push({ text: match[0], color })
    end = match.index + match[0].length
  }
  if (end < text.length) segments.push({ text: text.slice(end), color: null })
  return segments
}

function colorOf(match: RegExpExecArray, text: string, { keywords, ignoresCase, hasKeys }: Grammar): TokenColor | null {
  const { 0: token, index, groups = {} } = match
  const group = Object.keys(groups).find(name => groups[name] !== undefined)
  const next = text[index + token.length]
  if (hasKeys && next === ':' && (group === 'string' || group === 'word')) return 'name'
  if (group !== 'word') return group === undefined ? null : (groupColors[group] ?? null)
  if (keywords?.has(ignoresCase ? token.toLowerCase() : token)) return 'keyword'
  return next === '(' ? 'name' : null
}
