/** Tests the search for deny rules: it finds a command however it is wrapped, nested or quoted, and no limit hides one. */
import { describe, expect, it } from 'vitest'
import { literalCommands, mentionsWords } from '../../src/index.ts'

/** Returns whether a deny rule for `rm -rf` would have to match. */
function findsRemoval(text: string): boolean {
  const { commands, isComplete, mentions } = literalCommands(text)
  const isFound = commands.some(({ name, argv }) => name === 'rm' && argv.includes('-rf'))
  return isFound || (!isComplete && mentions(['rm', '-rf']))
}
/** Like `findsRemoval`, but only if the search was complete, so that nothing was found by chance. */
function findsRemovalExactly(text: string): boolean {
  return literalCommands(text).commands.some(({ name, argv }) => name === 'rm' && argv.includes('-rf'))
}
const dollar = '$'

describe('literalCommands finds rm -rf', () => {
  it.each([
    // separators and groups
    ...[
      'rm -rf x',
      '  rm   -rf x',
      'ls; rm -rf x',
      'ls && rm -rf x',
      'ls || rm -rf x',
      'ls | rm -rf x',
      'ls |& rm -rf x',
    ],
    ...[
      'ls & rm -rf x',
      'ls\nrm -rf x',
      'ls # x\nrm -rf x',
      '(rm -rf x)',
      '((ls); (rm -rf x))',
      '{ rm -rf x; }',
      '! rm -rf x',
    ],
    ...['time rm -rf x', 'time -p rm -rf x', 'coproc rm -rf x', 'if ls; then rm -rf x; fi', 'if rm -rf x; then ls; fi'],
    ...['while rm -rf x; do ls; done', 'until ls; do rm -rf x; done', 'for i in a b; do rm -rf $i; done'],
    ...[
      'case a in a) rm -rf x;; esac',
      'f() { rm -rf x; }; f',
      'function f { rm -rf x; }',
      'select x in a; do rm -rf x; done',
    ],
    ...['for ((i=0;i<3;i++)); do rm -rf $i; done', 'ls; ; rm -rf x', 'ls && \\\n rm -rf x', 'rm \\\n -rf x'],
    // substitutions
    ...[
      'echo $(rm -rf x)',
      'echo `rm -rf x`',
      'echo "$(rm -rf x)"',
      'echo "`rm -rf x`"',
      'cat <(rm -rf x)',
      'ls > >(rm -rf x)',
    ],
    ...[
      'echo $(echo $(rm -rf x))',
      'echo `echo \\`rm -rf x\\``',
      'echo $((1 + $(rm -rf x)))',
      'a=$(rm -rf x)',
      'a=$(rm -rf x) ls',
    ],
    ...[
      `echo ${dollar}{x:-$(rm -rf x)}`,
      'echo $[$(rm -rf x)]',
      '[[ -n $(rm -rf x) ]]',
      '(( $(rm -rf x) ))',
      'npm test 2>(rm -rf x)',
    ],
    ...[
      'cat <<EOF\n$(rm -rf x)\nEOF',
      'cat <<< "$(rm -rf x)"',
      'a[$(rm -rf x)]=1',
      'echo "a" "b$(rm -rf x)c"',
      'x=(a $(rm -rf x))',
    ],
    // quotes, backslashes, assignments, redirects
    ...[
      "'rm' -rf x",
      '"rm" "-rf" x',
      'r\\m -r\\f x',
      "r''m -rf x",
      'r"m" \'-r\'f x',
      "$'rm' -rf x",
      "$'\\x72\\x6d' -rf x",
    ],
    ...[
      "$'\\162\\155' $'\\u002drf' x",
      '$"rm" -rf x',
      'A=b rm -rf x',
      'A=b C=d rm -rf x',
      '2>/dev/null rm -rf x',
      'rm 2>&1 -rf x',
    ],
    ...[
      '>out rm -rf x',
      'rm >out -rf x',
      '/bin/rm -rf x',
      '../../bin/rm -rf x',
      '$HOME/bin/rm -rf x',
      'RM -rf x',
      '{rm,-rf,x}',
    ],
    ...[
      'X=rm; $X -rf x',
      `X=rm && ${dollar}{X} -rf x`,
      "X='rm -rf'; $X x",
      'for c in rm; do $c -rf x; done',
      'rm{,} -rf x',
    ],
    // wrappers
    ...[
      'sudo rm -rf x',
      `sudo python3 -c "import os; os.system('rm -rf x')"`,
      'sudo -u root -E rm -rf x',
      'sudo -- rm -rf x',
      'doas rm -rf x',
      'env rm -rf x',
      'env -i A=b rm -rf x',
    ],
    ...[
      'env -S "rm -rf x"',
      'nice -n 5 rm -rf x',
      'nohup rm -rf x &',
      'timeout 5 rm -rf x',
      'timeout -k 1 5s rm -rf x',
      'setsid rm -rf x',
    ],
    ...[
      'stdbuf -oL rm -rf x',
      'xargs rm -rf',
      'ls | xargs -0 -n1 rm -rf',
      'ls | xargs -I{} sh -c "rm -rf {}"',
      'parallel rm -rf ::: a',
    ],
    ...[
      'bash -c "rm -rf x"',
      "sh -c 'rm -rf x'",
      'bash -lc "cd a && rm -rf x"',
      'zsh -ic "rm -rf x"',
      "/bin/bash -lc 'rm -rf x'",
    ],
    ...[
      'bash -c \'bash -c "rm -rf x"\'',
      "sudo bash -c 'rm -rf x'",
      "bash -o errexit -c 'rm -rf x'",
      'bash -c \'eval "rm -rf x"\'',
    ],
    ...[
      'eval rm -rf x',
      'eval "rm -rf x"',
      "eval 'rm' '-rf' x",
      'exec rm -rf x',
      'command rm -rf x',
      'builtin command rm -rf x',
    ],
    ...[
      'command -p rm -rf x',
      "trap 'rm -rf x' EXIT",
      "alias ls='rm -rf x'",
      'watch rm -rf x',
      "watch -n1 'rm -rf x'",
      'flock l rm -rf x',
    ],
    ...[
      'find . -exec rm -rf {} \\;',
      'find . -execdir rm -rf {} +',
      'find . -ok rm -rf {} \\;',
      "find . -exec sh -c 'rm -rf $1' _ {} \\;",
    ],
    ...[
      'fd -x rm -rf',
      'ssh host rm -rf x',
      "ssh -p 22 host 'rm -rf x'",
      "ssh host 'cd a; rm -rf x'",
      'ssh -o ProxyCommand="rm -rf x" host',
    ],
    ...[
      'su - root -c "rm -rf x"',
      'script -qc "rm -rf x" /dev/null',
      'strace -f rm -rf x',
      'chroot / rm -rf x',
      'busybox rm -rf x',
    ],
    ...[
      'docker run --rm -v /:/h alpine rm -rf x',
      'docker exec c sh -c "rm -rf x"',
      'kubectl exec p -- rm -rf x',
      'npx -c "rm -rf x"',
    ],
    ...[
      'npm exec -- rm -rf x',
      'pnpm exec rm -rf x',
      'uv run rm -rf x',
      'poetry run rm -rf x',
      'bundle exec rm -rf x',
      'nix-shell --run "rm -rf x"',
    ],
    ...[
      'git rebase -x "rm -rf x" HEAD~1',
      'git bisect run rm -rf x',
      "git submodule foreach 'rm -rf x'",
      "git -c alias.x='!rm -rf x' x",
    ],
    ...[
      "git -c core.pager='rm -rf x' log",
      'git config alias.x "!rm -rf x"',
      'tar --to-command="rm -rf x" -xf a',
      "tar --checkpoint-action=exec='rm -rf x' -cf a b",
    ],
    ...[
      "make SHELL='rm -rf x'",
      'rsync -e "rm -rf x" a b',
      "vim -c '!rm -rf x'",
      'tmux new -d "rm -rf x"',
      'tmux send-keys "rm -rf x" Enter',
    ],
    // other languages
    ...[
      `python3 -c "import os; os.system('rm -rf x')"`,
      `python -c 'import subprocess; subprocess.run(["rm", "-rf", "x"])'`,
    ],
    ...[
      `node -e 'require("child_process").execSync("rm -rf x")'`,
      `perl -e 'system("rm -rf x")'`,
      `perl -e 'system "rm", "-rf", "x"'`,
    ],
    ...[
      "ruby -e '`rm -rf x`'",
      `awk 'BEGIN{system("rm -rf x")}'`,
      `php -r 'exec("rm -rf x");'`,
      `osascript -e 'do shell script "rm -rf x"'`,
    ],
    // text that a shell reads
    ...[
      "echo 'rm -rf x' | sh",
      'echo rm -rf x | bash',
      "printf 'rm -rf x' | sudo sh",
      "bash <<< 'rm -rf x'",
      'bash <<EOF\nrm -rf x\nEOF',
    ],
    ...[
      "sh <<'EOF'\nls\nrm -rf x\nEOF",
      'cat <<EOF | sh\nrm -rf x\nEOF',
      "ssh host <<'EOF'\nrm -rf x\nEOF",
      'bash -s <<EOF\nrm -rf x\nEOF',
    ],
    ...["python3 - <<'EOF'\nimport os\nos.system('rm -rf x')\nEOF", 'cat > a.sh <<EOF\nrm -rf x\nEOF\nbash a.sh'],
    ...["echo 'rm -rf x' > a.sh; sh a.sh", 'docker exec -i c bash <<EOF\nrm -rf x\nEOF'],
    ...["echo 'rm -rf x' | at now", "echo 'ls; rm -rf x' | tee a | bash", 'echo "a" | bash -c "rm -rf x"'],
  ])('literalCommands finds rm -rf in %j', text => {
    expect(literalCommands(text).isComplete || findsRemoval(text)).toBe(true)
    expect(findsRemovalExactly(text)).toBe(true)
  })

  it.each([
    ...[
      'rm -rf x)',
      "rm -rf x '",
      'rm -rf x "',
      'echo $(rm -rf x',
      'if rm -rf x',
      'ls; rm -rf x; }',
      'rm -rf x <<EOF',
      '`rm -rf x',
    ],
    ...[
      'case rm -rf x',
      'rm -rf x &&',
      '&& rm -rf x',
      'for do rm -rf x',
      "$'rm' -rf x $(",
      'ls | | rm -rf x',
      'function rm -rf',
    ],
  ])('literalCommands finds rm -rf in %j, which no shell can run as a whole', text =>
    expect(findsRemoval(text)).toBe(true),
  )
})

describe('literalCommands finds no rm -rf', () => {
  it.each([
    ...[
      'ls',
      'rm x',
      'echo rm -rf x',
      'git commit -m "rm -rf x"',
      "grep -rn 'rm -rf' src",
      'npm run rm -- -rf',
      'git rm -rf x',
      'docker rm -f x',
    ],
    ...[
      "cat > notes.md <<'EOF'\nrm -rf x\nEOF",
      '# rm -rf x',
      'ls # rm -rf x',
      "echo '$(rm -rf x)'",
      'cat rm -rf',
      './rm.sh -rf',
      'farm -rf',
    ],
    ...["echo 'a; rm -rf x'", 'echo "a && rm -rf x"', 'man rm -rf', 'which rm', 'find . -name rm -newer -rf'],
  ])('literalCommands finds no rm -rf in %j', text => expect(findsRemoval(text)).toBe(false))
})

describe('no limit hides a command from deny rules', () => {
  const mebibyte = 1 << 20
  it.each([
    ['100,000 commands before it', `${'true; '.repeat(100_000)}rm -rf x`],
    ['100,000 commands after it', `rm -rf x${'; true'.repeat(100_000)}`],
    ['3,000 commands before it', `${'true a; '.repeat(1500)}${'true b|'.repeat(1500)}rm -rf x`],
    ['1 MiB of brackets before it', `${'('.repeat(mebibyte)}rm -rf x`],
    ['1 MiB of substitutions before it', `${'$('.repeat(mebibyte / 2)}rm -rf x`],
    ['1 MiB of a quoted text before it', `echo '${'a'.repeat(mebibyte)}'; r\\m '-r'f x`],
    ['20 shells around it', `${'bash -c '.repeat(20)}'rm -rf x'`],
    [
      'many nested quotes around it',
      Array(12)
        .fill(0)
        .reduce<string>(text => `bash -c ${JSON.stringify(text)}`, 'rm -rf x'),
    ],
    ['many values of variables', `${Array.from({ length: 40 }, (_, i) => `X=${i}`).join(';')};X=rm;$X$X$X;$X -rf x`],
    ['200 arguments of the wrapper before it', `sudo ${'a '.repeat(200)} rm -rf x`],
    ['an encoded name in a long text', `${'ls; '.repeat(50_000)}$'\\x72m' -rf x`],
    ['60 here-documents before it', `${'cat <<E\na\nE\n'.repeat(60)}bash <<E\nrm -rf x\nE`],
  ])('rm -rf is found with %s', (_, text) => expect(findsRemoval(text)).toBe(true))

  it('literalCommands decides about 1 MiB of nested brackets within 50 ms', () => {
    for (const bracket of [
      '(',
      '$(',
      '[',
      '{ ',
      '<(',
      '"$(',
      '`',
      '((',
      '[[ ',
      `${dollar}{x:-`,
      "'",
      '"',
      '\\',
      '<<a\n',
      ';',
    ]) {
      const text = bracket.repeat(mebibyte / bracket.length)
      // Other tests use the same processors, so CPU time is counted instead of time on the clock.
      const durationsMs = [1, 2, 3].map(() => {
        const before = process.cpuUsage()
        literalCommands(text).mentions(['rm', '-rf'])
        const { user, system } = process.cpuUsage(before)
        return (user + system) / 1000
      })
      expect(Math.min(...durationsMs), bracket).toBeLessThan(50)
    }
  })
})

describe('mentionsWords', () => {
  it.each<[string, string[], boolean]>([
    ['rm -rf x', ['rm', '-rf'], true],
    ['x -rf; /bin/rm', ['rm', '-rf'], true],
    ["r'm' -r\\f", ['rm', '-rf'], true],
    ["$'\\x72m' -rf", ['rm', '-rf'], true],
    ['r\\\nm -rf', ['rm', '-rf'], true],
    ['r\nm -rf', ['rm', '-rf'], false],
    ['RM', ['rm'], true],
    ['a=rm', ['rm'], true],
    ['git push --force origin', ['git', 'push', '--force'], true],
    ['git push --force-with-lease', ['git', 'push', '--force'], false],
    ['farm -rf', ['rm', '-rf'], false],
    ['rm', ['rm', '-rf'], false],
    ['echo a b', ['a b'], true],
  ])('mentionsWords(%j, %j) is %s', (text, words, expected) => expect(mentionsWords(text, words)).toBe(expected))
})
