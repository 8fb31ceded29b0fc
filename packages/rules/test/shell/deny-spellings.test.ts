/** Tests that a rule that denies a command matches the command in other spellings: options by their other names, programs that start others, and patterns that a shell replaces with names. */
import { describe, expect, it } from 'vitest'
import { RuleSet } from '../../src/index.ts'
import { bash, srvContext, srvRule } from '../support/rule-context.ts'

/** For each rule, commands that it must match, and commands that do something else. */
const options: readonly (readonly [rule: string, matched: readonly string[], others: readonly string[]])[] = [
  [
    'rm -rf',
    [
      'rm -r -f x',
      'rm -fr x',
      'rm -Rf x',
      'rm -fvR x',
      'rm -r --force x',
      'rm --recursive --force x',
      'rm --force --recursive -- x',
      'rm --recurs --fo x',
      'rm x -R x -f',
      'rm -r x --force=',
      'sudo rm -Rf x',
      'find . -exec rm -R --force {} +',
      '$(echo rm) -r --force x',
      'rm $X --force -r',
      'grml; $RM -R -f x; rm',
    ],
    [
      'rm -i file',
      'rm -r x',
      'rm -f x',
      'rm --force x',
      'rm recursive force',
      'rm --recursion-force x',
      'grep -rf patterns .',
      'docker rm -rf x',
      'git rm -rf x',
      'git rm -r -f x',
      'find . -name x -print | xargs rm -f',
      'rm "$x"; find . -type f -print; grep -rn x .',
    ],
  ],
  [
    'rm -rf build',
    ['rm -R --force build', 'rm build -rf', 'rm -rf a build', 'rm -rf bui*'],
    ['rm -rf dist', 'rm -r build'],
  ],
  ['rm --recursive', ['rm -r x', 'rm -R x', 'rm -vR x', 'rm --rec x'], ['rm -f x', 'rm --verbose x']],
  ['sudo rm -rf', ['sudo rm -r --force x', 'sudo -u me rm -Rf x'], ['sudo rm x', 'rm -rf x']],
  [
    'git push --force',
    [
      'git push -f',
      'git push origin --force',
      'git push origin main -f',
      'git push -uf origin main',
      'git -C app push --forc',
      'git push origin +main',
      'git push --mirror',
    ],
    [
      'git push',
      'git push origin main',
      'git pull --force',
      'git push --force-with-lease',
      'git push --follow-tags',
      'git fetch -f',
    ],
  ],
  ['git push --force-with-lease', ['git push origin --force-with-lease=main'], ['git push --no-verify']],
  ['git push -f', ['git push --force', 'git push origin +main'], ['git push --follow-tags']],
  [
    'git push --delete',
    ['git push -d origin x', 'git push origin :x', 'git push origin --delete x'],
    ['git push origin x:y'],
  ],
  ['git push', ['git -c a=b push', 'git push -f'], ['git pull', 'git log --oneline push-notes.md']],
  [
    'git reset --hard',
    ['git reset HEAD~1 --hard', 'git -C x reset --har'],
    ['git reset --soft', 'git reset HEAD hard'],
  ],
  [
    'git clean -xfd',
    ['git clean -x -f -d', 'git clean -dxf', 'git clean -fd -x', 'git clean --force -xd', "git clean -xfde'a b'"],
    ['git clean -fd', 'git clean -xnd', 'git clean -Xfd'],
  ],
  ['git branch -D', ['git branch --delete --force x', 'git branch -df x', 'git branch -f -d x'], ['git branch -d x']],
  ['git branch -d', ['git branch --delete x', 'git branch -D x'], ['git branch x', 'git branch -m x']],
  ['git checkout -f', ['git checkout --force', 'git checkout main -qf'], ['git checkout main']],
  ['git commit --no-verify', ['git commit -n -m x', 'git commit -anm x'], ['git commit -m "no"', 'git commit --amend']],
  ['git commit --amend', ['git commit --am', 'git commit -a --amend'], ['git commit -am x', 'git commit -a -m x']],
  ['chmod -R 777', ['chmod 777 -R x', 'chmod --recursive 777 x', 'chmod -vR 777 x'], ['chmod -R 755 x', 'chmod 777 x']],
  ['chown -R', ['chown --recursive me x', 'chown me x -R'], ['chown me x']],
  ['cp -r', ['cp -R a b', 'cp --recursive a b', 'cp -a a b'], ['cp a b', 'cp -f a b']],
  ['mv -f', ['mv --force a b', 'mv a b -vf'], ['mv a b', 'mv -n a b']],
  ['kill -9', ['kill -KILL 1', 'kill -s KILL 1', 'kill -s 9 1', 'kill -SIGKILL 1'], ['kill 1', 'kill -15 1']],
  ['tar -x', ['tar xf a', 'tar --extract -f a', 'tar -zxf a'], ['tar cf a x', 'tar tf a']],
  [
    'curl -X DELETE',
    ['curl -XDELETE u', 'curl u -X DELETE', 'curl --request DELETE u', 'curl --request=DELETE u', 'curl -sXDELETE u'],
    ['curl u', 'curl -X GET u'],
  ],
  ['curl -XDELETE', ['curl -X DELETE u', 'curl --request=DELETE u'], ['curl -XGET u']],
  ['curl -X DELETE https://a.test', ['curl https://a.test -X DELETE'], ['curl https://b.test -X DELETE']],
  [
    'docker run --privileged',
    ['docker run -it --privileged x', 'docker --debug run --privileged=true x'],
    ['docker run x'],
  ],
  ['docker rm -f', ['docker rm --force x', 'docker container rm -vf x'], ['docker rm x', 'docker run --rm -f x']],
  ['npm publish', ['npm publ', 'npm --tag next publish', 'npm -w a publish'], ['npm run publish-docs', 'npm test']],
  ['npm install -g', ['npm i -g x', 'npm add x --global', 'npm i --location=global x'], ['npm i x', 'npm ci']],
  [
    'pnpm publish --access public',
    ['pnpm publish --access=public', 'pnpm -r publish --access public'],
    ['pnpm publish'],
  ],
  ['yarn add -D', ['yarn add x --save-dev'], ['yarn add x']],
  [
    'kubectl delete -n prod',
    ['kubectl -n=prod delete pod x', 'kubectl delete pod x --namespace prod'],
    ['kubectl get -n prod'],
  ],
  ['kubectl delete', ['kubectl -n a delete pod x', 'kubectl --context x delete pod'], ['kubectl describe pod x']],
  [
    'terraform destroy',
    ['terraform -chdir=x destroy', 'terraform apply -destroy', 'terraform apply --destroy'],
    ['terraform plan'],
  ],
  [
    'terraform apply -auto-approve',
    ['terraform apply --auto-approve', 'terraform apply -auto-approve=true'],
    ['terraform apply'],
  ],
  ['go test -exec x', ['go test --exec x', 'go test -exec=x ./...'], ['go test ./...']],
  ['tool --mode=fast', ['tool --mode fast', 'tool x --mode=fast'], ['tool --mode=slow', 'tool --model fast']],
]

const rule = (command: string) => new RuleSet([srvRule({ effect: 'deny', scope: {}, command })])
const isDenied = (rules: RuleSet, command: string) => rules.evaluate(bash(command), srvContext).verdict === 'deny'

describe('a rule that denies a command with options', () => {
  it.each(options)('a deny rule for %j matches the same options in other spellings', (command, matched) => {
    const rules = rule(command)
    expect([command, ...matched].filter(text => !isDenied(rules, text))).toEqual([])
  })
  it.each(options)('a deny rule for %j does not match other commands and options', (command, _, others) => {
    const rules = rule(command)
    expect(others.filter(text => isDenied(rules, text))).toEqual([])
  })
})

describe('a rule that denies git push', () => {
  const rules = rule('git push')
  const started: Readonly<Record<string, readonly string[]>> = {
    'programs that are given a command': [
      "hyperfine 'git push'",
      'hyperfine -w 3 "git push"',
      'xterm -e git push',
      "gnome-terminal -e 'git push'",
      "script -qc'git push' /dev/null",
      'watch -n1 git push',
      'gosu me git push',
      'ip netns exec x git push',
      'cmake -E env git push',
      'dotenvx run -- git push',
      'ld.so /usr/bin/git push',
      'unknown git push',
      "unknown 'cd x; git push'",
      'unknown \'{"cmd":["git","push"]}\'',
      'unknown \'g"i"t p\\ush\'',
      'flatpak run --command=git x push',
      'nix run nixpkgs#git push',
      'gcc -wrapper git,push x.c',
      'claude -p "run git push"',
    ],
    'options with a command': [
      "git rebase -x'git push' main",
      "git rebase --exec='git push' main",
      "git difftool --extcmd='git push'",
      "git grep -O'git push' x",
      "git fetch --upload-pack 'git push'",
      "git -calias.x='!git push' x",
      "ssh -o 'ProxyCommand git push' h",
      "scp -o ProxyCommand='git push' a b:",
      "tar --checkpoint-action 'exec=git push' cf a b",
      "tar cf a b -I'git push'",
      "rsync -e'git push' a b:",
      "rsync -ave 'git push' a b:",
      "man -P'git push' x",
      "vim -c ':!git push' x",
      "less +'!git push' x",
      "rg --pre 'git push' x",
      "sort --compress-program 'git push' x",
      "split --filter='git push' x",
      "zip -TT'git push' x y",
      "fzf --bind 'enter:execute(git push)'",
      "socat - EXEC:'git push'",
      "go test -exec 'git push'",
      `cargo --config 'build.rustc-wrapper="git push"' build`,
      "unknown -x'git push'",
      "unknown --on-exit='git push'",
      "sudo unknown -x'git push'",
      "unknown 'git $(echo push)'",
    ],
    'variables with a command': [
      "CC='git push' make",
      "make CC='git push'",
      "RSYNC_RSH='git push' rsync a b:",
      "RUSTC_WRAPPER='git push' cargo build",
      `TAR_OPTIONS="--checkpoint-action=exec='git push'" tar cf a b`,
      "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='!git push' git x",
      "export X='git push'; unknown",
    ],
    'patterns in names of programs and subcommands': [
      'gi? push',
      '/usr/bin/gi* push',
      '/usr/bin/g[i]t push',
      '/usr/bin/??? push',
      'git pus?',
      'git -C x [p]ush',
      'g{i,}t push',
      'sudo gi? push',
    ],
    'names of programs with the endings of Windows': [
      'git.exe push',
      "'C:/Program Files/Git/bin/git.exe' push",
      'cmd.exe /c git.exe push',
      'powershell.exe -Command "git push"',
    ],
  }
  it.each(Object.entries(started))('a deny rule for git push matches %s', (_, texts) => {
    expect(texts.filter(text => !isDenied(rules, text))).toEqual([])
  })

  it('a deny rule for git push does not match commands that only mention it in a text', () => {
    const texts = [
      'echo "git push"',
      'grep -rn "git push" docs',
      "rg 'git push'",
      "git grep 'git push'",
      "git log --grep 'git push'",
      "git log -S'git push'",
      'git commit -m "do not git push yet"',
      'git commit -am "git push later"',
      'git commit --message="git push"',
      'gh pr create --title "git push" --body "run git push"',
      'npx tsc && vitest run -t "git push"',
      `curl -d '{"text":"git push"}' https://a.test`,
      "sed -i 's/pull/push/' git.md",
      'brew install git push',
      'man git push',
      'tar cf git push',
      'nvm use git push',
      'git add p*',
      'cat git push',
      '* push',
      'gi? pull',
    ]
    expect(texts.filter(text => isDenied(rules, text))).toEqual([])
  })

  it('a rule that denies a program with subcommands does not match a subcommand of another program', () => {
    for (const text of ['docker rm -r x', 'git rm -r x', 'npm rm -r x', 'aws s3 rm --recursive x', 'kubectl rm -r'])
      expect(isDenied(rule('rm -r'), text), text).toBe(false)
  })
})
