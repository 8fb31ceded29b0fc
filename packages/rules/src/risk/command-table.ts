/** A table of well-known commands: the words of each command, and what it touches. */
import type { Touch } from '@holdpoint/protocol'
import type { FindingLevel } from './risk-findings.ts'

/**
 * One command per line: words that must follow each other, options that must be given, and after the arrow what the command
 * touches. `a|b` means either word, `!` marks a dangerous touch, and `none` a command that is known to touch none of these.
 */
const table = `
git push => network publishes
git push --force|-f|--force-with-lease|--mirror|--force-if-includes => rewrites-history!
git push --delete|-d|--prune => deletes!
git fetch|pull|clone|ls-remote|lfs|svn|p4|send-email|request-pull|remote-https => network
git submodule add|update|init|sync => network
git remote update|show|prune => network
git remote add|set-url|rename|remove|rm => settings
git config => settings
git config --global|--system => writes-outside! settings
git reset --hard|--merge|--keep => rewrites-history! deletes
git reset => none
git rebase => rewrites-history!
git commit => project-code
git commit --amend => rewrites-history!
git filter-branch|filter-repo|replace => rewrites-history!
git reflog expire|delete => rewrites-history!
git gc|prune => none
git gc --prune|--aggressive => rewrites-history!
git update-ref => rewrites-history
git update-ref -d|--delete => rewrites-history!
git branch -D|-M|-f|--force => rewrites-history!
git branch -d|--delete => deletes
git tag -d|--delete|-f|--force => rewrites-history
git stash drop|clear => deletes!
git clean -f|--force => deletes!
git clean => none
git rm => deletes
git rm -r|-f|--force => deletes!
git checkout|switch -f|--force|--discard-changes => deletes!
git checkout . => deletes!
git checkout|restore -- => deletes
git restore => deletes
git restore . => deletes!
git worktree remove|prune => deletes
git worktree remove -f|--force => deletes!
git submodule deinit => deletes
git hook|maintenance|daemon|instaweb|bisect|difftool|mergetool => project-code
git -c => settings
git add|apply|am|bisect|branch|checkout|cherry-pick|init|merge|mv|notes|revert|stash|switch|tag|worktree|submodule => none

npm|pnpm|yarn|bun install|i|ci|add|update|upgrade|up|uninstall|remove|rm|un|link|rebuild|dedupe|prune|import|it|install-test => installs network
npm|pnpm|yarn|bun install|i|add|update|uninstall|remove|link -g|--global => writes-outside!
npm|pnpm|yarn|bun publish|unpublish|deprecate|dist-tag|owner|access|login|adduser|token|team|star|profile => publishes! network
npm|pnpm|yarn|bun run|run-script|test|t|tst|start|stop|restart|exec|x|explore|lint|build|dev|serve|preview|typecheck|check|format|workspace|workspaces|node => project-code
npm|pnpm|yarn|bun dlx|create|init|x => installs network project-code
npm|pnpm|yarn|bun view|info|show|search|outdated|audit|ping|whoami|docs|repo|bugs|fund|why => network
npm|pnpm audit fix|--fix => installs
npm|pnpm|yarn|bun config|set|pkg|version => settings
npm|pnpm|yarn cache => deletes
npm|pnpm|yarn|bun ls|list|root|prefix|bin|pack|--version|-v|get|explain => none
npx|bunx|pnpx|uvx|pipx => project-code
corepack|nvm|fnm|volta|asdf|mise|rustup|pyenv|rbenv|sdk => installs network
deno run|test|task|bench => project-code
deno install|add|cache|upgrade => installs network
pip|pip3|pipx install|download|uninstall|upgrade|inject|wheel => installs network
pip|pip3 list|show|freeze|check|--version => none
uv add|remove|sync|lock|pip|tool|venv|init => installs network
uv run => installs network project-code
uv|poetry|hatch|pdm|flit publish => publishes! network
poetry|pipenv|pdm|conda|mamba|micromamba install|add|remove|update|sync|create|lock|env => installs network
poetry|pipenv|pdm|hatch|conda|tox|nox run|exec|shell => project-code
tox|nox|pre-commit => project-code installs network
gem|bundle|bundler install|update|add|outdated|uninstall => installs network
bundle|bundler exec => project-code
gem push|yank|signin => publishes! network
composer install|update|require|remove|create-project => installs network
cargo install|add|remove|update|fetch|vendor|search => installs network
cargo build|check|test|run|clippy|bench|doc|fmt|fix|nextest|b|c|t|r => project-code
cargo publish|yank|owner|login => publishes! network
cargo clean => deletes
go get|install|mod|work => installs network
go test|run|build|vet|generate|tool|fmt|fix => project-code
go clean => deletes
go env -w|-u => settings writes-outside!
brew|apt|apt-get|aptitude|dnf|yum|apk|pacman|zypper|snap|flatpak|port|choco|winget|scoop|emerge|nix-env => installs network writes-outside!
mvn|mvnw|gradle|gradlew|ant|sbt|dotnet|msbuild|bazel|buck|cmake|ninja|meson|make|gmake|just|task|rake|gulp|grunt|nx|turbo|lerna|webpack|vite|rollup|esbuild|tsx|ts-node|swc|babel|next|nuxt|astro|ng|vue|svelte-kit|expo|flutter|dart|swift|xcodebuild|mix|rebar3|stack|cabal|zig|gcc|g++|clang|cc|rustc|javac|java|kotlinc|scala|ghc|ruby|perl|php|lua|node|nodejs|python|python2|python3|pypy|bash|sh|zsh|fish|dash|ksh|source|.|eval|exec|rspec|phpunit|pest|artisan|manage.py|pytest|jest|vitest|mocha|ava|tap|cypress|playwright|storybook|tsc|eslint|prettier|biome|ruff|mypy|black|isort|flake8|pylint|pyright|golangci-lint|rubocop|jupyter|ipython|r|rscript|julia|deno|bun|watchman|entr|nodemon|pm2|forever|foreman|overmind|supervisord => project-code
mvn|gradle deploy|publish|release:perform|uploadarchives => publishes! network
dotnet nuget|publish|tool => installs network
twine|semantic-release|release-it|np|changeset|goreleaser|fastlane|standard-version => publishes! network

curl|wget|http|https|httpie|xh|aria2c|ftp|sftp|lftp|telnet|nc|ncat|netcat|socat|ssh|scp|mosh|rsh|sshpass|ssh-copy-id|ping|traceroute|mtr|dig|nslookup|host|whois|nmap|gh|glab|hub|lynx|w3m|links|yt-dlp|youtube-dl|ab|wrk|hey|k6|websocat|grpcurl|psql|mysql|mongosh|mongo|redis-cli|mysqldump|pg_dump|pg_restore|supabase|firebase|vercel|netlify|fly|flyctl|heroku|wrangler|railway|render|sam|serverless|sls|cdk|amplify|eb|aws|gcloud|gsutil|bq|az|doctl|linode-cli|oci|ibmcloud|s3cmd|rclone|mc|kubectl|oc|helm|terraform|tofu|terragrunt|pulumi|ansible|ansible-playbook|docker|podman|docker-compose|nerdctl|buildah|skopeo|ngrok|cloudflared|openssl|mail|sendmail|mutt|svn|hg|restic|borg|claude|codex|gemini|opencode|ollama => network
gh pr|issue|release|gist|repo create|merge|close|comment|edit|review|delete|reopen|upload|fork|sync|archive|rename|ready => publishes
gh release|repo create|delete|archive|rename => publishes!
gh auth|secret|ssh-key|gpg-key|variable => secrets!
gh api -X|--method|-f|-F|--field => publishes
gh workflow|run|codespace run|rerun|create|delete => publishes
vercel|netlify|firebase|fly|flyctl|heroku|wrangler|railway|serverless|sls|sam|cdk|amplify|eb|eas deploy|publish|up|launch|promote|rollback|remove|destroy|delete|submit|update|env|secrets|--prod => publishes!
vercel --prod => publishes!
terraform|tofu|terragrunt|pulumi|cdk apply|destroy|up|import|state|taint|refresh => publishes!
terraform|tofu|terragrunt init|get => installs
ansible-playbook|ansible => publishes!
kubectl|oc apply|create|delete|edit|patch|replace|scale|rollout|drain|cordon|taint|annotate|label|set|run|expose|exec|cp => publishes!
kubectl|oc get|describe secret|secrets => secrets!
helm install|upgrade|uninstall|rollback|delete|push => publishes!
aws|gcloud|az|gsutil|doctl|oci|s3cmd|rclone|mc|bq delete|rm|rb|mb|cp|mv|sync|put|create|update|deploy|terminate|stop|start|run|apply|purge|set|add|remove|publish|send|invoke|move|copy => publishes!
aws secretsmanager|ssm|sts|iam|kms => secrets!
gcloud auth|secrets|iam => secrets!
az keyvault|account|login => secrets!
docker|podman|nerdctl|buildah|skopeo|crane push|login|copy => publishes!
docker|podman|nerdctl|docker-compose run|build|exec|compose|up|start|buildx => project-code
docker|podman|nerdctl rm|rmi|stop|kill => deletes
docker|podman|nerdctl system|volume|image|container|network|builder prune|rm => deletes!
docker|podman run --privileged => privileges!
docker-compose|podman-compose down|rm => deletes
redis-cli flushall|flushdb|del => deletes!
svn|hg commit|push|ci => publishes

sudo|doas|su|pkexec|runuser|runas|visudo|passwd|chpasswd|useradd|usermod|userdel|adduser|deluser|groupadd|groupmod|chroot|unshare|nsenter|setcap|setfacl|chattr|mount|umount|swapon|swapoff|modprobe|insmod|rmmod|sysctl|iptables|nft|ufw|firewall-cmd|launchctl|crontab|at|batch|shutdown|reboot|halt|poweroff|init|dscl|csrutil|spctl|tccutil|defaults|systemsetup|networksetup|scutil|nvram|update-alternatives|ldconfig|debugfs|capsh => privileges!
systemctl|service|initctl|rc-service start|stop|restart|enable|disable|mask|unmask|reload|kill|edit|daemon-reload|isolate => privileges!
systemctl|service|journalctl|loginctl => none
chmod|chown|chgrp => none
chmod|chown|chgrp -R|--recursive => privileges!
pkill|killall|kill => privileges
pkill|killall => privileges!
renice|ionice|nice|nohup|setsid|disown|chrt|taskset|ulimit => none
dd|mkfs|mke2fs|fdisk|sfdisk|gdisk|parted|wipefs|diskutil|hdiutil|blkdiscard|cryptsetup|lvremove|vgremove|pvremove|mdadm|zpool|zfs|hdparm|badblocks|losetup|format|newfs => privileges! deletes!

rm|shred|srm|wipe|unlink|rmdir|trash|trash-put|rimraf|del|erase => deletes
rm|rimraf|del -r|-R|--recursive|-f|--force => deletes!
shred|srm|wipe|rimraf => deletes!
rsync --delete|--delete-after|--delete-before|--delete-excluded|--remove-source-files|--del => deletes!
find|fd -delete => deletes!
truncate|gzip|gunzip|bzip2|bunzip2|xz|unxz|compress => deletes
mktemp => writes-outside
dropdb|dropuser => deletes!

env|printenv|set|export|declare|history => secrets
security|secret-tool|pass|gopass|op|bw|vault|gpg|gpg2|age|sops|keytool|keyring|ssh-keygen|ssh-add|ssh-agent|lpass|chamber|aws-vault|doppler|infisical => secrets!
direnv allow|permit|edit|reload => settings!
husky|lefthook|simple-git-hooks => settings
claude|codex|gemini|opencode mcp|config|plugin => settings!
alias|unalias|trap|enable|shopt|setopt|bind|complete => settings

cat|ls|head|tail|wc|pwd|echo|printf|test|[|true|false|:|cd|pushd|popd|dirs|date|which|type|command|sort|uniq|cut|tr|diff|cmp|comm|stat|file|du|df|tree|basename|dirname|realpath|readlink|nl|tac|rev|fold|column|paste|join|grep|egrep|fgrep|zgrep|rg|ag|ack|fd|fdfind|find|sed|awk|gawk|mawk|jq|yq|xxd|od|hexdump|strings|base64|md5sum|sha1sum|sha256sum|sha512sum|cksum|shasum|md5|less|more|bat|batcat|man|info|help|whoami|id|groups|uname|hostname|arch|nproc|uptime|free|ps|top|htop|lsof|ss|netstat|ifconfig|ip|vmstat|iostat|w|who|last|tty|stty|clear|tput|seq|sleep|wait|jobs|fg|bg|time|timeout|yes|expr|bc|cal|locale|getconf|lscpu|lsblk|tokei|cloc|scc|hyperfine|xargs|tee|touch|mkdir|cp|mv|ln|install|patch|tar|zip|unzip|gzip|gunzip|bzip2|xz|zstd|7z|split|csplit|sponge|mktemp|mkfifo|exit|return|read|local|unset|shift|let|if|then|for|do|done|git|gofmt|git-lfs|dot|convert|ffmpeg|pandoc|sqlite3|tmux|screen|script|open|xdg-open|code|vim|vi|nano|emacs|dos2unix|iconv|envsubst|printf => none
`

interface TableLine {
  /** For each word after the name of the program, its alternatives. */
  readonly words: readonly (readonly string[])[]
  /** For each option, its alternatives. */
  readonly options: readonly (readonly string[])[]
  readonly touches: readonly { readonly touch: Touch; readonly level: FindingLevel }[]
}

/** The lines by the name of the program. */
export const commandTable: ReadonlyMap<string, readonly TableLine[]> = readTable()

function readTable(): ReadonlyMap<string, readonly TableLine[]> {
  const lines = new Map<string, TableLine[]>()
  for (const text of table.split('\n')) {
    const [left, right] = text.split(' => ')
    if (left === undefined || right === undefined) continue
    const parts = left.split(' ').map(part => part.split('|'))
    const [names = [], ...words] = parts.filter(([first = '']) => !first.startsWith('-'))
    const line: TableLine = {
      words,
      options: parts.filter(([first = '']) => first.startsWith('-')),
      touches: right
        .split(' ')
        .filter(name => name !== 'none')
        .map(name => ({
          touch: name.replace('!', '') as Touch, // the table above uses no other words
          level: name.endsWith('!') ? 'dangerous' : 'notable',
        })),
    }
    for (const name of names) lines.set(name, [...(lines.get(name) ?? []), line])
  }
  return lines
}

/** How many words may come before a subcommand, because an option can have a value: `git -C folder push`. */
const wordsBefore = 2

/** Returns the lines of the table that match a command. Options may be at any position. */
export function tableLines(name: string, args: readonly string[]): readonly TableLine[] {
  const words = args.filter(arg => !arg.startsWith('-')).map(arg => arg.toLowerCase())
  return (commandTable.get(name) ?? []).filter(
    line => areIn(line.words, words) && line.options.every(names => names.some(option => hasOption(args, option))),
  )
}

function areIn(wanted: readonly (readonly string[])[], words: readonly string[]): boolean {
  let at = 0
  for (const alternatives of wanted) {
    const end = Math.min(at + wordsBefore + 1, words.length)
    while (at < end && !alternatives.includes(words[at] as string)) at++ // `at` is below the length
    if (at === end) return false
    at++
  }
  return true
}

/** `-f` is also given in `-rf`, and `--force` in `--force=true`. */
export function hasOption(args: readonly string[], option: string): boolean {
  if (option === '--') return args.includes('--')
  if (/^-[a-zA-Z]$/.test(option))
    return args.some(arg => /^-[a-zA-Z0-9]/.test(arg) && arg.includes(option[1] as string, 1))
  return args.some(arg => arg === option || arg.startsWith(`${option}=`))
}
