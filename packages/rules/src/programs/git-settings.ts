/**
 * Finds out whether the settings of a git repository name programs. Many commands that only read run such programs:
 * `core.fsmonitor` (status, diff, ls-files), filters of `.gitattributes` (status, diff, blame), `diff.external` and `textconv`
 * (diff, log -p, show, blame), `gpg.program` (log and show with signatures), the hook `post-index-change` (status), the pager,
 * and programs that fetch missing objects of a partial clone. Only settings that are known to be harmless are accepted.
 */
import { resolvePath } from '../files/check-path.ts'
import { foldName, holdsCredentials } from '../files/path-names.ts'
import { joinPath, parentOf } from '../paths.ts'
import type { CallSite, FileLookup } from '../site.ts'
import { nestedPaths } from './git-index.ts'

const harmlessSettings: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|longpaths|quotepath|abbrev|untrackedcache|splitindex|preloadindex|compression|protecthfs|protectntfs|commentchar|whitespace|sparsecheckout|sparsecheckoutcone|multipackindex|commitgraph|bigfilethreshold|sharedrepository|hidedotfiles|trustctime|checkstat)$/,
  /^extensions\.(?:objectformat|refstorage|worktreeconfig|noop)$/,
  /^remote\..*\.(?:url|pushurl|fetch|push|tagopt|mirror|prune|prunetags|gh-resolved|skipdefaultupdate|followremotehead)$/,
  /^branch\..*\.(?:remote|merge|rebase|pushremote|description|vscode-merge-base|gk-merge-base|gk-merge-target|gk-last-accessed|gk-last-modified|github-pr-owner-number|base|mergeoptions)$/,
  /^submodule\.(?:.*\.(?:url|active|branch|path|ignore|fetchrecursesubmodules|shallow)|active|recurse)$/,
  /^(?:user|author|committer)\.(?:name|email|signingkey|useconfigonly)$/,
  /^commit\.(?:gpgsign|verbose|template|cleanup|status)$/,
  /^tag\.(?:gpgsign|sort|forcesignannotated)$/,
  /^gpg\.format$/,
  /^url\..*\.(?:insteadof|pushinsteadof)$/,
  /^(?:alias|color|gui|gitflow|github)\..*$/,
  /^(?:pull|push|fetch|rebase|merge|init|gc|pack|index|color|advice|status|rerere|column|branch|maintenance|feature|receive|transfer|versionsort|http|lfs|blame|clone|checkout|am|apply|stash)\.(?:[\w-]+|.*\.(?:locksverify|access))$/,
  /^log\.(?:abbrevcommit|date|decorate|follow|graphcolors|showroot|mailmap)$/,
  /^diff\.(?:algorithm|colormoved|colormovedws|context|interhunkcontext|mnemonicprefix|noprefix|renames|renamelimit|ignoresubmodules|suppressblankempty|wserrorhighlight|indentheuristic|relative|dirstat|statgraphwidth)$/,
]
/** Settings that name a program although their section is accepted. */
const namesProgram =
  /^(?:merge\.(?:tool|guitool)|.*\.(?:driver|cmd|command|helper|program|uploadpack|receivepack|vcs|proxy|cookiefile|extraheader))$|^http\.(?:.*\.)?(?:sslcert|sslkey)|^maintenance\.(?!auto$|strategy$|repo$)|^status\.submodulesummary$|^submodule\.recurse$|^stash\.usebuiltin$/

/** Settings that name a file of which git may print lines: `check-ignore -v` prints patterns, and `blame` a line that is not a revision. */
const namesPrintedFile = /^(?:core\.(?:excludesfile|attributesfile)|blame\.ignorerevsfile)$/

const foldersMax = 64

/** The only hook that runs for commands that read. Such commands update the index of git with what they learn about files. */
const readingHooks = ['post-index-change']

/** Returns why git may run programs of the project in this folder, or null if its settings name none and none of these hooks exists. */
export function gitSettingsProblem(site: CallSite, hooks: readonly string[] = readingHooks): string | null {
  const { files } = site
  if (!files?.readText) return 'Holdpoint cannot read the settings of git.'
  const top = topFolder(site.cwd, files)
  if (typeof top === 'string') return top
  if (top === null) return null
  return repositoryProblem(top.folder, files, hooks, new Set())
}

/** Returns whether an address in the settings of the repository may contain a password or a token, which `git remote -v` would show. */
export function mayShowCredentials({ cwd, files }: CallSite): boolean {
  const top = files && topFolder(cwd, files)
  if (top === null) return false
  const git = typeof top === 'string' ? null : gitFoldersOf(top.folder, files as FileLookup) // a folder was found, so there are files
  if (git === null) return true
  return [`${git.common}/config`, `${git.own}/config.worktree`].some(
    path => files?.realPath(path) !== null && holdsCredentials(files?.readText?.(path) ?? 'token'),
  )
}

/** Returns the folder of the repository, or null if there is none or it is not clear. Git ignores a `.git` that is not a repository, for example an empty folder. */
export function repositoryFolder({ cwd, files }: CallSite): string | null {
  const top = files && topFolder(cwd, files)
  if (!top || typeof top === 'string') return null
  return gitFoldersOf(top.folder, files) === null ? null : top.folder
}

/**
 * Finds the folder with `.git`, like git. Returns a text if git might take one of the folders for a repository without `.git`:
 * anybody can commit the files of such a repository. Every such repository has an entry `HEAD`, which can be a link to nothing.
 */
function topFolder(cwd: string, files: FileLookup): { readonly folder: string } | string | null {
  let folder = files.realPath(cwd)
  for (let steps = 0; folder !== null && steps < foldersMax; steps++) {
    const inFolder = (name: string) => (folder === '/' ? `/${name}` : `${folder}/${name}`)
    const entries = files.list?.(folder)
    if (!entries) return 'Holdpoint cannot read the settings of git.'
    if (entries.some(({ name }) => /^(?:head|commondir)$/.test(foldName(name))))
      return 'The folder looks like a bare git repository.'
    if (files.realPath(inFolder('.git')) !== null) return { folder }
    if (folder === '/') return null
    folder = parentOf(folder)
  }
  return 'The git repository was not found.'
}

/** Checks a repository and the nested ones that git looks into. `known` are the repositories that were checked before. */
function repositoryProblem(
  top: string,
  files: FileLookup,
  hooks: readonly string[],
  known: Set<string>,
): string | null {
  if (known.has(top)) return null
  known.add(top)
  const git = gitFoldersOf(top, files)
  const config = git && files.readText?.(`${git.common}/config`)
  if (!git || typeof config !== 'string') return 'Holdpoint cannot read the settings of git.'
  const worktree = files.realPath(`${git.own}/config.worktree`)
  const settings = readSettings(config)
  const more = worktree ? readSettings(files.readText?.(worktree) ?? '[') : []
  if (settings === null || more === null) return 'Holdpoint does not understand the settings of git.'
  for (const { name, value } of [...settings, ...more]) {
    if (name === 'core.hookspath' && isPlainPath(value)) {
      const folder = resolvePath(value, top, files)
      if (folder === null || hasHook(folder, files, hooks)) return hookProblem
    } else if (name === 'core.worktree' && isPlainPath(value)) {
      if (resolvePath(value, git.own, files) !== files.realPath(top)) return worktreeProblem
    } else if (namesPrintedFile.test(name)) {
      if (!isListOfIgnored(value, top, files)) return `The setting ${name} of this repository may show another file.`
    } else if (!isHarmless(name)) return `The setting ${name} of this repository may run a program of the project.`
  }
  if (hasHook(`${git.common}/hooks`, files, hooks)) return hookProblem
  const hashBytes = settings.some(({ name, value }) => name === 'extensions.objectformat' && value !== 'sha1') ? 32 : 20
  const nested = nestedFolders(top, git.own, hashBytes, files)
  if (nested === null) return 'It is not clear which nested repositories git looks into.'
  for (const folder of nested) {
    if (files.realPath(`${folder}/.git`) === null) continue
    const problem = repositoryProblem(folder, files, hooks, known)
    if (problem) return problem
  }
  return null
}
const worktreeProblem = 'The repository keeps its files in another folder.'
const hookProblem = 'The repository has a hook that this git command runs.'

function isHarmless(name: string): boolean {
  return !namesProgram.test(name) && harmlessSettings.some(pattern => pattern.test(name))
}

/** Returns whether a path has no quotes, comments, `~` and other characters that git replaces. */
function isPlainPath(path: string): boolean {
  return /^[\w./@+-]+$/.test(path)
}

/** Returns whether a file in the repository, which is not behind a link, has a name such as .gitignore or .git-blame-ignore-revs. */
function isListOfIgnored(path: string, top: string, files: FileLookup): boolean {
  if (!/^[\w.-]+$/.test(path) || !/ignore|attributes/.test(path)) return false
  const file = joinPath(top, path)
  return [file, null].includes(files.realPath(file))
}

function hasHook(folder: string, files: FileLookup, hooks: readonly string[]): boolean {
  return hooks.some(hook => files.realPath(`${folder}/${hook}`) !== null)
}

interface GitFolders {
  /** The folder that `.git` is or names. */
  readonly own: string
  /** The folder with the settings, which a worktree shares with its repository. */
  readonly common: string
}

/** Returns null if it is not certain that git uses this `.git`: git ignores a folder that is not a repository, and takes the next `.git` above it. */
function gitFoldersOf(top: string, files: FileLookup): GitFolders | null {
  const isFolder = (path: string) => (files.list?.(path) ?? null) !== null
  const path = `${top}/.git`
  const own = isFolder(path) ? path : namedFolder(top, files.readText?.(path), 'gitdir: ', files)
  if (own === null || !validHead.test(files.readText?.(`${own}/HEAD`) ?? '')) return null
  const shared = `${own}/commondir`
  const common = files.realPath(shared) === null ? own : namedFolder(own, files.readText?.(shared), '', files)
  return common !== null && ['objects', 'refs'].every(name => isFolder(`${common}/${name}`)) ? { own, common } : null
}
const validHead = /^(?:ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\n?$/

/**
 * Returns the folder that a file of git names in its only line, after `start`, or null if it is not clear which one that is. Git takes
 * spaces at the end as a part of the path.
 */
function namedFolder(from: string, text: string | null | undefined, start: string, files: FileLookup): string | null {
  const line = text?.replace(/\r?\n$/, '') ?? ''
  const path = line.startsWith(start) ? line.slice(start.length) : ''
  return path === '' || path !== path.trim() || /[\r\n]/.test(path) ? null : resolvePath(path, from, files)
}

/**
 * Returns the folders of nested repositories, each of which has settings of its own: the submodules in `.gitmodules`, and all in the
 * index, which need not be submodules. Returns null if it is not clear where they are.
 */
function nestedFolders(top: string, gitFolder: string, hashBytes: number, files: FileLookup): readonly string[] | null {
  const modules = `${top}/.gitmodules`
  const settings = files.realPath(modules) === null ? [] : readSettings(files.readText?.(modules) ?? '[')
  if (settings === null) return null
  const paths = settings.filter(({ name }) => name.endsWith('.path')).map(({ value }) => value)
  const indexes = (files.list?.(gitFolder) ?? []).filter(({ name }) => /^(?:index$|sharedindex\.)/.test(foldName(name)))
  for (const { name } of indexes) {
    const index = files.readBytes?.(`${gitFolder}/${name}`) ?? null
    const found = index && nestedPaths(index, hashBytes)
    if (!found) return null
    paths.push(...found)
  }
  const folders = paths.map(path => resolvePath(path, top, files))
  return folders.every(folder => folder !== null) ? folders : null
}

interface Setting {
  /** In lower case, with its section: `remote.origin.url`. */
  readonly name: string
  readonly value: string
}

/** Reads the part of git's file format that git itself writes. Returns null for everything else. */
function readSettings(text: string): readonly Setting[] | null {
  const settings: Setting[] = []
  let section = ''
  for (const line of text.split('\n')) {
    const plain = line.trim()
    if (plain === '' || /^[#;]/.test(plain)) continue
    const header = /^\[([\w.-]+)(?: "((?:[^"\\]|\\.)*)")?\]$/.exec(plain)
    if (header) {
      section = [header[1], header[2]].filter(part => part !== undefined).join('.')
      continue
    }
    const setting = /^([a-zA-Z][\w-]*)(?:\s*=(.*))?$/.exec(plain)
    // A line that ends with a backslash continues on the next one.
    if (!setting || section === '' || plain.endsWith('\\')) return null
    settings.push({
      name: `${section}.${setting[1]}`.toLowerCase(),
      value: (setting[2] ?? '').trim().replace(/^"(.*)"$/, '$1'),
    })
  }
  return settings
}
