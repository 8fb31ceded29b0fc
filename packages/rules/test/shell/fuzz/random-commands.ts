/** Generates shell texts for comparing our reading of a command with that of bash. Many are provable, and many others differ from a provable text in one detail. */
import type { Random } from '../../../../../test/simulation/random.ts'

const words = (text: string): readonly string[] => text.trim().split(/\s+/)

/** The programs in generated texts. */
export const programs = words(
  'npm git ls cat grep rg node tsc pytest cargo go make head tail wc find sort sed awk sh env g++ 7z x_y ./run bin/tool',
)
const builtins = words('echo pwd true false printf test [ type command cd cd cd')
/** Names that must never be provable. */
const refusedNames = words(
  'eval exec source . set export unset alias trap read declare local let time ! if do coproc { [[ (( function } A=b A+=b',
)
const plainWords = words(
  `test -la --flag --name=value src/index.ts HEAD~1 HEAD^ HEAD~~ a:b @scope/pkg %h 1 2 -5 +x . .. ./x a=b x,y - -- -c -v sub
  nosuch sub/deep in then do cd /dev/null 2 10 x a X PATH`,
)
/** Texts that need quotes, or must not be accepted without them. */
const specialTexts = [
  ...words(
    '$x $(touch,P) `touch,P` ; | && || & > < >P 2>P * ? [a] {a,b} {1..3} ~ ~root ! !! # \\ \\n \\t " \' $ $$ $[1] $((1)) <(ls) ( ) = =ls',
  ),
  ...[
    ' ',
    '  ',
    '$' + '{x}',
    'a b',
    "it's",
    '"q"',
    'a$',
    'a$|b',
    '^a$',
    '%s\\n',
    '%n',
    '%d',
    '%',
    'a[$(touch P)]',
    '-v',
    'é',
    '✓',
    'Größe',
    '日本',
    '😀',
  ],
  ...[
    '\t',
    '\n',
    '\r',
    '\0',
    '\x01',
    '\x7f',
    '\u00a0',
    '\u0085',
    '\u200b',
    '\u2028',
    '\ufeff',
    '\u202e',
    '\ud800',
    'á̀',
  ],
]
const operators = ['&&', '||', ';', '|']
const refusedOperators = ['&', '|&', ';;', ';&', '\n', '&&&', '|||', '&|', '!', '\\\n', '\r\n']
const redirects = [
  '>/dev/null',
  '> /dev/null',
  '2>/dev/null',
  '2>&1',
  '&>/dev/null',
  '>&2',
  '1>&2',
  '</dev/null',
  '>>/dev/null',
  '2>> /dev/null',
]
const refusedRedirects = words(
  '>P 2>P >|P <>P 3>/dev/null >&P 2>&- 2>&12 <<x <<<x >/dev/nullx >/dev/null/../P 2>(touch,P) {f}>P >& &>P 2>&1- >"/dev/null" >/dev/null\\',
)

/** Commands as coding agents write them. */
export const everydayCommands = [
  'npm test',
  'npm run build 2>&1 | tail -20',
  'cd packages/app && npx vitest run test/a.test.ts',
  'git status --short && git diff HEAD~1 -- src/index.ts',
  "git log --oneline -10 --format='%h %s'",
  'git show HEAD^:package.json | head -40',
  "grep -rn 'export function' src --include='*.ts' | head -5",
  'rg -n "class \\w+ extends" --glob "!node_modules" src',
  "find . -name '*.ts' -not -path './node_modules/*'",
  "sed -n '1,80p' src/a.ts",
  'ls -la; cat package.json | grep \'"version"\'',
  'cat a.txt 2>/dev/null || echo "not found"',
  '[ -f package.json ] && echo yes || echo no',
  'test -d sub && cd sub && ls',
  'command -v node >/dev/null 2>&1 && node --version',
  'printf "%s\\n" "a b" | wc -l',
  'cargo test --all -- --nocapture',
  'go test ./pkg/sub -run TestA -count=1',
  'python3 -c "import sys; print(sys.version)"',
  "node -e 'console.log(1)'",
  'npx tsc --noEmit -p tsconfig.json; echo done',
  'pytest -x -q tests/test_a.py::test_b -k "a and not b"',
  "awk '{print $1}' a.txt | sort | uniq -c",
  'curl -s "https://example.com/?a=1&b=2" | jq .name',
  'docker ps --format "{{.Names}}"',
  'make -j4 test V=1 &>/dev/null',
  "echo 'it'\\''s' \"quoted \\\"twice\\\"\"",
]

export class RandomCommands {
  readonly #random: Random
  readonly #examples: readonly string[]
  /** `examples` are commands that are used as they are, changed, and in parts. */
  constructor(random: Random, examples: readonly string[]) {
    this.#random = random
    this.#examples = examples
  }

  next(): string {
    const kind = this.#random.next()
    const text = kind < 0.1 ? this.#pick(this.#examples) : kind < 0.15 ? this.#fragments() : this.#command()
    return this.#random.chance(0.35) ? this.#changed(text) : text
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)] as T // every list here has items
  }

  #command(): string {
    const random = this.#random
    let text = random.chance(0.05) ? ' ' : ''
    const segments = this.#pick([1, 1, 1, 2, 2, 3, 4])
    for (let segment = 0; segment < segments; segment++) {
      if (segment > 0)
        text += `${this.#space()}${this.#pick(random.chance(0.02) ? refusedOperators : operators)}${this.#space()}`
      text += this.#segment()
    }
    return random.chance(0.05) ? `${text} ` : text
  }

  #segment(): string {
    const random = this.#random
    const name = this.#pick(random.chance(0.02) ? refusedNames : random.chance(0.3) ? builtins : programs)
    if (name === 'cd')
      return `cd ${this.#pick(['sub', 'sub', './sub', '..', '.', 'sub/deep', 'nosuch', '-', "'sub'", 'sub/..', '/', "'a b'"])}`
    let text = random.chance(0.02) ? this.#quoted(name) : name
    const count = name === 'pwd' ? 0 : random.below(4)
    for (let word = 0; word < count; word++) text += `${random.chance(0.1) ? '  ' : ' '}${this.#word()}`
    if (name === '[') text += ' ]'
    if (random.chance(0.15)) text += ` ${this.#pick(random.chance(0.1) ? refusedRedirects : redirects)}`
    return text
  }

  #word(): string {
    const random = this.#random
    if (random.chance(0.5)) return this.#pick(plainWords)
    let text = ''
    for (let piece = this.#pick([1, 1, 2, 3]); piece > 0; piece--)
      text += random.chance(0.3)
        ? this.#pick(plainWords)
        : this.#quoted(random.chance(0.6) ? this.#pick(specialTexts) : this.#pick(plainWords))
    return text
  }

  /** Puts a text in quotes, mostly in the right way. */
  #quoted(text: string): string {
    switch (this.#random.below(20)) {
      case 0:
        return text
      case 1:
        return `"${text}"`
      case 2:
        return `$'${text}'`
      case 3:
        return `'${text}'`
      case 4:
      case 5:
      case 6:
        return text.replace(/[^\w./-]/g, '\\$&')
      case 7:
      case 8:
      case 9:
      case 10:
      case 11:
        return `"${text.replace(/[\\$`"]/g, '\\$&')}"`
      default:
        return `'${text.replaceAll("'", "'\\''")}'`
    }
  }

  #space(): string {
    return this.#pick(['', ' ', ' ', ' ', '  '])
  }

  #fragment(): string {
    const lists = [
      programs,
      builtins,
      refusedNames,
      plainWords,
      specialTexts,
      operators,
      refusedOperators,
      redirects,
      refusedRedirects,
    ]
    return this.#pick(this.#pick(lists))
  }
  #fragments(): string {
    return Array.from({ length: 1 + this.#random.below(8) }, () => `${this.#fragment()}${this.#space()}`).join('')
  }

  #changed(text: string): string {
    const random = this.#random
    let changed = text
    for (let count = 1 + random.below(3); count > 0; count--) {
      const at = random.below(changed.length + 1)
      const end = Math.min(changed.length, at + random.below(4))
      const other = this.#pick(this.#examples)
      const middle = [
        () => this.#fragment(),
        () => '',
        () => changed.slice(at, end).repeat(2),
        () => this.#pick([...'\'"\\$`;&|<>()[]{}*?~!#=^% \t\n']),
        () => other.slice(random.below(other.length), random.below(other.length + 1)),
      ]
      changed = changed.slice(0, at) + this.#pick(middle)() + changed.slice(end)
    }
    return changed
  }
}
