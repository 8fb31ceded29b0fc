/** Recognizes secret files, and files that are protected because they decide what other programs do. Both are recognized by name, in every folder. */

/** Folders whose whole content is secret. */
const secretFolders =
  /^(?:\.ssh|\.aws|\.kube|\.gnupg|\.azure|\.docker|\.password-store|\.holdpoint|\.gcloud|\.oci|\.1password|\.kaggle|\.age|\.snowsql|\.ngrok2|\.mozilla|\.thunderbird)$/
/** Folders whose whole content is secret inside the folder `.config`. */
const secretSettings =
  /^(?:gcloud|gh|glab-cli|op|rclone|configstore|github-copilot|hub|sops|hcloud|doctl|ngrok|google-chrome|chromium|bravesoftware)$/
/** The same folders anywhere in a path. */
const secretFolderInPath = new RegExp(
  `(?:^|/)(?:${withoutAnchors(secretFolders)}|\\.config/${withoutAnchors(secretSettings)})(?:/|$)`,
)
/** Files that are secret only in one folder. */
const secretFileInFolder =
  /(?:^|\/)(?:\.m2\/settings(?:-security)?\.xml|\.gradle\/gradle\.properties|\.copilot\/config\.json)$/
/** The names of all secret folders, and of folders with secret files, start with a dot. Most paths have no such name, and looking for the dot is quicker than the patterns above. */
const mayNameHidden = /(?:^|\/)\./
function withoutAnchors({ source }: RegExp): string {
  return source.slice(1, -1)
}

const secretFiles: readonly RegExp[] = [
  // Environment files, except the ones that are written to be shared.
  /^\.env(?:[._-](?!(?:example|sample|template|dist)$).*)?$/,
  /^(?!.*(?:example|sample|template)).+\.env$/,
  /^\.envrc/,
  /^\.flaskenv$/,
  /^\.dev\.vars(?:\.(?!(?:example|sample|template|dist)$).*)?$/,
  /^(?!.*(?:example|sample|template)).*\.tfvars(?:\.json)?$/,
  // Keys and certificates with keys
  /\.(?:pem|key|p12|pfx|p8|pkcs12|jks|keystore|ppk|kdbx?|keychain|keyring|ovpn)(?:\.txt)?$/,
  /^id_(?:[^.]+|(?:rsa|dsa|ecdsa|ed25519)\w*\.(?!pub$).*)$/,
  // Passwords, tokens and credentials
  /(?:^|[._-])credentials?(?:\.(?:json|ya?ml|toml|ini|cfg|conf|db|xml|properties|txt|csv|bak|enc))*$/,
  /^\.?(?:client[_-]?)?secrets?(?:[._-].*)?(?:\.(?:json|ya?ml|toml|ini|txt|env|properties|enc))$/,
  /^\.?secrets?$/,
  /^service[-_]?account.*\.json$/,
  /^\.?(?:(?:access|auth|api|refresh|session|vault|bot|id)[-_]?)?token(?:\.(?:txt|json|ya?ml|dat))?$/,
  /\.token$/,
  /^\.?(?:api[-_]?keys?|passwords?|private[-_]?key|privkey\d*)(?:\.(?:txt|json|ya?ml|csv|ini))?$/,
  /^(?:\.netrc|_netrc|\.pgpass|\.my\.cnf|\.htpasswd|\.pypirc|\.dockercfg|\.git-credentials|\.boto|\.s3cfg|\.vault[-_]pass(?:word)?|\.claude\.json|\.databrickscfg|\.terraformrc|\.msmtprc|\.authinfo|\.sentryclirc|\.linode-cli)$/,
  /^(?:(?:mcp-)?auth\.json|oauth_creds\.json|kubeconfig|rclone\.conf|master\.key|.*\.tfstate(?:\.backup)?|credentials\.tfrc\.json|shadow|gshadow|sudoers)$/,
  // Histories of shells and other prompts, which often include passwords
  /^\.(?:\w+_)?history$/,
  /^fish_history$/,
]
/** Settings of package managers and of git. Most hold no secret, but the token of a registry or a URL with a password may be among them. */
const credentialSettings = /^(?:\.?npmrc|\.yarnrc(?:\.ya?ml)?|\.?pip\.(?:conf|ini)|bunfig\.toml|\.gitconfig)$/
/** The settings of a repository, in its folder `.git` or in a bare repository such as `project.git`. */
const gitSettings = /^config(?:\.worktree)?$/
const gitFolder = /\.git$/
/** Matches settings with a password or a token, also inside a URL. A user name alone is common in the address of a repository. */
const credential =
  /_auth|auth[-_]?token|authorization|extraheader|passw|token|secret|credential|api[-_]?key|:\/\/(?!git@)[^\s/@]+@/i

/** Files of the running system that show the environment, the memory or the open files of a process. */
const processFiles = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|fd|fdinfo|root|cwd|maps|auxv|cmdline)(?:\/|$)/

/** Folders whose whole content is protected: settings of version control, agents, editors and continuous integration. */
const protectedFolders =
  /^(?:\.git|\.hg|\.svn|\.jj|\.bzr|\.claude|\.codex|\.opencode|\.gemini|\.cursor|\.windsurf|\.continue|\.aider.*|\.goose|\.qwen|\.copilot|\.amp|\.kiro|\.agents|\.vscode|\.idea|\.zed|\.fleet|\.devcontainer|\.husky|\.githooks|\.circleci|\.buildkite|\.gitlab|\.direnv|\.cargo|\.holdpoint|\.yarn|\.mise|launchagents|launchdaemons)$/
/** Folders that are protected only inside another folder. */
const protectedSubfolders =
  /(?:^|\/)(?:\.github\/(?:workflows|actions|hooks|agents|copilot)|\.config\/(?:git|fish|autostart|systemd|environment\.d|opencode|goose|zed|nvim|direnv|mise)|\.local\/bin)(?:\/|$)/

const protectedFiles: readonly RegExp[] = [
  // Instructions and settings of agents
  /^(?:agents|claude|gemini|qwen)(?:\.(?:local|override))?\.md$/,
  /^(?:\.cursorrules|\.windsurfrules|\.clinerules|\.mcp\.json|mcp\.json|(?:opencode|tui)\.jsonc?|lsp\.json|copilot-instructions\.md|\.aider.*|\.goosehints)$/,
  // Holdpoint
  /^holdpoint\.(?:config|rules)\.json$/,
  // Version control
  /^(?:\.git|\.gitconfig|\.gitmodules|\.gitattributes|\.hgrc|\.pre-commit-(?:config|hooks)\.ya?ml|\.?lefthook.*\.(?:ya?ml|toml|json))$/,
  // Package managers and their scripts
  /^(?:package\.json|\.npmrc|\.yarnrc.*|\.pnpmfile\.c?js|pnpm-workspace\.yaml|\.pnp\..*|bunfig\.toml|composer\.json|pip\.conf|\.pip\.conf|uv\.toml)$/,
  // Files that build tools and test runners load automatically
  /^(?:conftest\.py|sitecustomize\.py|usercustomize\.py|.*\.pth|(?:gnu)?makefile|.*\.mk|\.?justfile|taskfile\.ya?ml|rakefile|rust-toolchain(?:\.toml)?|build\.rs)$/,
  // Start-up files of shells and other programs
  /^\.(?:bash(?:rc|_profile|_login|_logout|_aliases)|profile|zsh(?:rc|env)|zprofile|zlogin|zlogout|kshrc|cshrc|tcshrc|login|logout|inputrc|xprofile|xinitrc|xsession(?:rc)?|pam_environment|vimrc|exrc|nvimrc|emacs|tmux\.conf|screenrc)$/,
  /^\.(?:ripgreprc|curlrc|wgetrc|gdbinit|lldbinit|pdbrc|pythonrc|rprofile|irbrc|psqlrc|sqliterc|lessfilter|lesskey|tool-versions|mise\.toml|envrc)$/,
  /^(?:mise\.toml|crontab)$/,
  // Continuous integration
  /^(?:\.gitlab-ci\.ya?ml|\.travis\.ya?ml|azure-pipelines.*\.ya?ml|bitbucket-pipelines\.ya?ml|jenkinsfile|\.?appveyor\.ya?ml|\.drone\.ya?ml|\.woodpecker.*|cloudbuild\.ya?ml|codefresh\.ya?ml)$/,
]

/** Returns the name in the form in which names are compared. Some file systems ignore case, the composition of accents, and dots or spaces at the end. */
export function foldName(name: string): string {
  // For nearly all names, ignoring case is enough.
  if (/^[\w-][\w.-]*$/.test(name) && !name.endsWith('.')) return name.toLowerCase()
  const folded = foldCharacters(name)
  // Windows reads `name::$DATA` as `name`.
  const colon = folded.indexOf(':')
  let end = colon < 0 ? folded.length : colon
  while (end > 0 && (folded[end - 1] === '.' || folded[end - 1] === ' ')) end--
  return folded.slice(0, end) || folded
}

function foldCharacters(name: string): string {
  // Nearly all names are ASCII, which is quick to fold.
  if (/^[\0-\x7f]*$/.test(name)) return name.toLowerCase()
  // Upper case first: it also maps letters such as ſ, which have no lower case of their own but count as s.
  return name.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC')
}

/** Returns whether a path names a secret. Every folder on the path counts, because a secret folder makes everything in it secret. */
export function isSecretPath(path: string): boolean {
  const folded = foldPath(path)
  if (processFiles.test(folded)) return true
  if (mayNameHidden.test(folded) && (secretFolderInPath.test(folded) || isSecretInFolder(folded))) return true
  return isSecretName(folded.slice(folded.lastIndexOf('/') + 1))
}

/** Folds every name of a path. */
function foldPath(path: string): string {
  // Nearly all paths have only ASCII letters, digits and a few signs, so the whole path is folded at once.
  if (/^[\w/.-]*$/.test(path) && !/\.(?:\/|$)/.test(path)) return path.toLowerCase()
  return path.split('/').map(foldName).join('/')
}

/** Returns whether a file is secret because of its name and its folder. */
export function isSecretInFolder(path: string): boolean {
  return secretFileInFolder.test(path.toLowerCase())
}

/** Returns whether a file with this name is secret. The name must be folded. A copy that an editor or a person has made is as secret as the file. */
export function isSecretName(name: string): boolean {
  const original = name.replace(copyEnding, '')
  return secretFiles.some(pattern => pattern.test(name) || (original !== name && pattern.test(original)))
}
const copyEnding = /(?:~|\.(?:bak|backup|old|orig|save|sw[op]))$/

/** Returns whether a path names settings in which credentials are common, so that nobody should read them without a question. */
export function mayHoldCredentials(path: string): boolean {
  const names = path.split('/')
  const name = foldName(names.pop() ?? '')
  return credentialSettings.test(name) || (gitSettings.test(name) && names.some(each => gitFolder.test(foldName(each))))
}

/** Returns whether the text of settings seems to contain a credential. */
export function holdsCredentials(text: string): boolean {
  return credential.test(text)
}

/** Returns whether everything in a folder with this name, inside a folder with the name `parent`, is secret. The names must be folded. */
export function isSecretFolder(name: string, parent: string): boolean {
  return secretFolders.test(name) || (parent === '.config' && secretSettings.test(name))
}

/** Returns whether a path, relative to the folder of the session, must not be changed by a general rule. */
export function isProtectedPath(path: string): boolean {
  const names = path.split('/').map(foldName)
  if (names.some(name => protectedFolders.test(name)) || protectedSubfolders.test(names.join('/'))) return true
  return protectedFiles.some(pattern => pattern.test(names.at(-1) ?? ''))
}
