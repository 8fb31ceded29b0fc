/** Tests which shell commands are provable and with which result, and why others are not. */
import { describe, expect, it } from 'vitest'
import { type CommandSegment, parseCommand } from '../../src/index.ts'

/** Writes segments in a short form: the operator, the words and the redirects. */
function proven(text: string): readonly string[][] | string {
  const parsed = parseCommand(text)
  if (!parsed.provable) return parsed.reason
  return parsed.segments.map(({ operator, argv, redirects }: CommandSegment) => [
    ...(operator ? [operator] : []),
    ...argv,
    ...redirects,
  ])
}

describe('a provable command', () => {
  it.each<readonly [string, readonly string[][]]>([
    ['npm test', [['npm', 'test']]],
    ['  npm   test  ', [['npm', 'test']]],
    ['git commit -m \'a "b" $c `d`\'', [['git', 'commit', '-m', 'a "b" $c `d`']]],
    ['grep -n "a\\"b\\\\c\\.d\\$e" src', [['grep', '-n', 'a"b\\c\\.d$e', 'src']]],
    ['grep "^a$" "b$|c$" "(d$)"', [['grep', '^a$', 'b$|c$', '(d$)']]],
    ['echo a\\ b\\;c \'it\'"\'"s ""', [['echo', 'a b;c', "it's", '']]],
    ['git log HEAD~3..HEAD^ --format=%h', [['git', 'log', 'HEAD~3..HEAD^', '--format=%h']]],
    ['echo "Größe ✓"', [['echo', 'Größe ✓']]],
    ['./run a', [['./run', 'a']]],
    ['ls&&pwd||a;b|c', [['ls'], ['&&', 'pwd'], ['||', 'a'], [';', 'b'], ['|', 'c']]],
    [
      '[ -f package.json ] && cat package.json',
      [
        ['[', '-f', 'package.json', ']'],
        ['&&', 'cat', 'package.json'],
      ],
    ],
    ['test 1 -eq 2', [['test', '1', '-eq', '2']]],
    ['command -v node', [['command', '-v', 'node']]],
    ["printf '%s\\n' a", [['printf', '%s\\n', 'a']]],
    ['ls 2>/dev/null >>/dev/null', [['ls', '2>/dev/null', '>/dev/null']]],
    [
      'npm test 2>&1|tail -5',
      [
        ['npm', 'test', '2>&1'],
        ['|', 'tail', '-5'],
      ],
    ],
    ['npm test &> /dev/null', [['npm', 'test', '>/dev/null', '2>&1']]],
    ['npm test 1>&2 < /dev/null', [['npm', 'test', '>&2', '</dev/null']]],
    ['echo 2 >/dev/null', [['echo', '2', '>/dev/null']]],
    [
      'cd sub && ls',
      [
        ['cd', './sub'],
        ['&&', 'ls'],
      ],
    ],
    ['cd a-b', [['cd', './a-b']]],
    ["ls '[' ']'", [['ls', '[', ']']]],
    [
      'cd /srv; cd ../a; cd .; cd ..',
      [
        ['cd', '/srv'],
        [';', 'cd', '../a'],
        [';', 'cd', '.'],
        [';', 'cd', '..'],
      ],
    ],
  ])('%s is provable', (text, expected) => expect(proven(text)).toEqual(expected))
  it('a provable command has at most 8192 characters, 1000 words, 50 parts and 4 changes of the folder', () => {
    expect(proven('a'.repeat(8192))).toEqual([['a'.repeat(8192)]])
    expect(proven('a '.repeat(1000))).toEqual([Array(1000).fill('a')])
    expect(proven(Array(50).fill('ls').join(';'))).toHaveLength(50)
    expect(proven('cd a; cd a; cd a; cd a')).toHaveLength(4)
  })
})

describe('a command that is not provable says why', () => {
  it.each([
    ['', 'The command is empty.'],
    ['npm test\nls', 'The command has several lines.'],
    ['npm $x', 'The command expands a variable.'],
    ['npm "$x"', 'The command expands a variable.'],
    ["npm $'x'", 'The command expands a variable.'],
    ['npm $(x)', 'The command runs another command and uses its output.'],
    ['npm "a`x`"', 'The command runs another command and uses its output.'],
    ['npm <(x)', 'The command passes the output of another command as a file.'],
    ['npm test 2>(touch X)', 'The command passes the output of another command as a file.'],
    ['ls *.ts', 'The command expands a pattern to file names.'],
    ['ls [a]', 'The command expands a pattern to file names.'],
    ['ls [', 'The command expands a pattern to file names.'],
    ['ls ]', 'The command expands a pattern to file names.'],
    ['[ -f [ ]', 'The command expands a pattern to file names.'],
    ['ls {a,b}', 'The command expands braces.'],
    ['ls ~/x', 'The command expands ~ to a home folder.'],
    ['ls a=~', 'The command expands ~ to a home folder.'],
    ['ls !!', 'The command may use the history of the shell.'],
    ['ls "a!b"', 'The command may use the history of the shell.'],
    ['(ls)', 'The command groups other commands.'],
    ['ls &', 'The command runs something in the background.'],
    ['cat <<x', 'The command contains its own input.'],
    ['ls > x', 'The command redirects to or from a file.'],
    ['ls >/dev/nullx', 'The command redirects to or from a file.'],
    ['ls 3>/dev/null', 'The command redirects to or from a file.'],
    ['ls #x', 'The command contains a comment.'],
    ['ls \\', 'The command ends with a backslash.'],
    ["ls 'a", 'A quotation mark is not closed.'],
    ['ls "a\\', 'A quotation mark is not closed.'],
    ['ls "a\\!"', 'The command may use the history of the shell.'],
    ['ls "a\nb"', 'The command has several lines.'],
    ['ls "a', 'A quotation mark is not closed.'],
    ['ls ä', 'The command contains characters that a shell may read differently.'],
    ['ls "a\u200bb"', 'The command contains characters that a shell may read differently.'],
    ['ls;', 'A command is missing after ;.'],
    ['ls;;ls', 'A command is missing before ;.'],
    ['>/dev/null ls', 'The command starts with a redirect.'],
    ['A=b ls', 'The command assigns a variable.'],
    ["A='b c' ls", 'The command assigns a variable.'],
    ["'ls'", 'The name of the program is in quotes.'],
    ['l\\s', 'The name of the program is in quotes.'],
    ['-ls', 'The name of the program is not plain text.'],
    ['bin/tool/', 'The name of the program is that of a folder.'],
    ['bin/tool/.', 'The name of the program is that of a folder.'],
    ['bin/tool/.. -c', 'The name of the program is that of a folder.'],
    ['time ls', 'The word time is a reserved word of the shell.'],
    ['if ls', 'The word if is a reserved word of the shell.'],
    ['eval ls', "The shell's own command eval can change what runs."],
    ['EVAL ls', "The shell's own command EVAL can change what runs."],
    ['command ls', "The shell's own command command can change what runs."],
    ['printf %n PATH', "The shell's own command printf can change what runs."],
    ["test -v 'a[$(x)]'", "The shell's own command test can change what runs."],
    ["[ 'a[1]' -eq 1 ]", 'The shell may evaluate the arguments of [.'],
    ['cd', 'The command changes to a folder that is not named exactly.'],
    ['cd -', 'The command changes to a folder that is not named exactly.'],
    ['cd //', 'The command changes to a folder that is not named exactly.'],
    ['cd //srv/a', 'The command changes to a folder that is not named exactly.'],
    ['cd +1', 'The command changes to a folder that is not named exactly.'],
    ['cd a b', 'The command changes to a folder that is not named exactly.'],
    ['cd a | ls', 'The command changes the folder in a pipeline, which shells do differently.'],
    ['ls | cd a && ls', 'The command changes the folder in a pipeline, which shells do differently.'],
    ['cd a; cd a; cd a; cd a; cd a', 'The command changes the folder too often.'],
    [Array(51).fill('ls').join(';'), 'The command has too many parts to check.'],
    ['a '.repeat(1001), 'The command has too many words to check.'],
    ['a'.repeat(8193), 'The command is too long to check.'],
  ])('$0 is not provable, and the reason says why', (text, reason) => expect(proven(text)).toBe(reason))
})
