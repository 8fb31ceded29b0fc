/** Finds out whether a tool call touches Holdpoint's own data folder, which contains its tokens and its database. In doubt, the result is yes. */
import type { Json, JsonObject } from '@holdpoint/protocol'
import { foldPath, isInside, isPattern, joinPath, parentOf, patternReaches } from './paths.ts'
import {
  bracedWords,
  joinedWords,
  mentions,
  percentDecoded,
  plainText,
  simpleCommands,
  WordPartBudget,
  wordsOf,
} from './shell-text.ts'
import { hasFindAction, mayReachTrees, treeCommand } from './tree-commands.ts'

export interface ProtectedFolderOptions {
  /** The absolute path of the data folder. */
  readonly folder: string
  /** The home folder of the user that agents run as, for `~` and `$HOME`. */
  readonly home: string
  /** Returns the path without symbolic links, or null if nothing exists there. */
  readonly realPath: (path: string) => string | null
}

/** `yes`: the call names the folder. `unclear`: the call is too long to check every word. */
export type Touch = 'yes' | 'unclear' | 'no'

/** The usual name of a data folder. A folder with this name is protected everywhere, because other users and runners on other machines have one too. */
const usualName = '.holdpoint'
/** Fields whose text is neither executed nor used as a path, so commands and paths in it have no effect. */
const contentFields: ReadonlySet<string> = new Set([
  ...['content', 'old_string', 'new_string', 'old_str', 'new_str', 'new_source', 'prompt', 'description', 'title'],
  ...['text', 'body', 'message', 'plan', 'query', 'todos', 'questions', 'subject', 'activeForm'],
])
/** Tools that search the content of a whole folder, as agents name them. */
const searchTool = /grep|^rg$|^search_file_content$/i
/** The fields in which they name the folder. */
const searchedFields = ['path', 'dir_path', 'directory'] as const
/** Tools whose `pattern` is a path. For all others, it is an expression to search for. */
const pathPatternTools: ReadonlySet<string> = new Set(['Glob'])
/** Fields with the folder in which a call runs. */
const folderFields = ['cwd', 'path', 'workdir', 'directory', 'dir_path'] as const

/** The variable that names the data folder. */
const folderVariable = /\$\{?holdpoint_home(?!\w)/
/** Matches `ps` with the option e, without a dash, which prints environments. */
const printsEnvironments = /(?:^|[\s;|&(])ps\s+[a-df-z]*e[a-z]*(?![\w-])/
const ownEnvironment = /\/proc\/(?:thread-)?self\/environ(?!\w)/g
const anyEnvironment = /\/environ(?!\w)/
/** Paths that give access to the environment, memory, open files and folders of another process. */
const otherProcess = /^\/proc\/(?!self\/|thread-self\/)[^/]+\/(?:task\/[^/]+\/)?(?:environ|mem|fd|cwd|root)(?!\w)/

const singleName = /^[\w.-]{1,255}$/

/** Longer texts are searched only for the name of the folder, and count as unclear if it is not found. */
const textMax = 64 * 1024
const wordsMax = 2000
const lookupsMax = 500
/** Longer paths cannot be opened. */
const pathMax = 4096

export class ProtectedFolder {
  readonly #options: ProtectedFolderOptions
  /** The folder as it is configured and without symbolic links. */
  readonly #folders: readonly string[]
  readonly #mentions: readonly string[]

  constructor(options: ProtectedFolderOptions) {
    this.#options = options
    const folders = [options.folder, options.realPath(options.folder) ?? options.folder].map(foldPath)
    this.#folders = [...new Set(folders)]
    this.#mentions = [...this.#folders, usualName]
  }

  touchedBy(tool: string, input: JsonObject, cwds: readonly string[]): Touch {
    return new Search(this.#options, this.#folders, this.#mentions, cwds).search(tool, input)
  }
}

/** A path as the file system may compare it. */
interface PathForms {
  /** Without `.` and `..`. */
  readonly normal: string
  /** Without symbolic links, as far as the path exists. */
  readonly real: string
}

/** The search through one tool call. It counts words and lookups, so that a long call cannot keep the gateway busy. */
class Search {
  readonly #options: ProtectedFolderOptions
  readonly #folders: readonly string[]
  readonly #mentions: readonly string[]
  #cwds: readonly string[]
  readonly #forms = new Map<string, PathForms>()
  readonly #realPaths = new Map<string, string>()
  readonly #wordParts = new WordPartBudget()
  #wordsLeft = wordsMax
  #lookupsLeft = lookupsMax
  #hasLongText = false

  constructor(
    options: ProtectedFolderOptions,
    folders: readonly string[],
    mentions: readonly string[],
    cwds: readonly string[],
  ) {
    this.#options = options
    this.#folders = folders
    this.#mentions = mentions
    this.#cwds = [...new Set(cwds.filter(cwd => cwd.startsWith('/')))]
  }

  search(tool: string, input: JsonObject): Touch {
    const namedFolders = folderFields.map(field => input[field]).filter(value => typeof value === 'string')
    this.#cwds = [...new Set([...this.#cwds, ...namedFolders.flatMap(path => this.#absolutePaths(path))])]
    if (searchTool.test(tool) && searchedFolders(input).some(folder => this.#mayContainFolder(folder))) return 'yes'
    if (this.#valueTouchesFolder(input, tool, '')) return 'yes'
    const isUnclear = this.#hasLongText || this.#wordParts.isUsedUp || this.#wordsLeft < 0 || this.#lookupsLeft < 0
    return isUnclear ? 'unclear' : 'no'
  }

  #valueTouchesFolder(value: Json, tool: string, field: string): boolean {
    if (typeof value === 'string') return this.#textTouchesFolder(value, field === 'command')
    if (value === null || typeof value !== 'object') return false
    if (Array.isArray(value)) return value.some(item => this.#valueTouchesFolder(item, tool, field))
    return Object.entries(value).some(([name, item]) => {
      const isContent = contentFields.has(name) || (name === 'pattern' && !pathPatternTools.has(tool))
      return !isContent && this.#valueTouchesFolder(item, tool, name)
    })
  }

  #textTouchesFolder(text: string, isCommand: boolean): boolean {
    if (singleName.test(text)) return this.#nameTouchesFolder(text, isCommand)
    const { home } = this.#options
    const variables = { HOME: home, PWD: this.#cwds[0] ?? home }
    const plain = plainText(text, variables)
    const folded = foldPath(plain)
    if (this.#mentions.some(mention => mentions(folded, mention))) return true
    if (folderVariable.test(folded) || printsEnvironments.test(folded) || readsEnvironments(folded)) return true
    if (text.length > textMax) {
      this.#hasLongText = true
      return false
    }
    if (/%[0-9a-f]{2}/i.test(text) && this.#textTouchesFolder(percentDecoded(text).replaceAll('%', ' '), isCommand))
      return true
    if (!isCommand && text.length <= pathMax && this.#mayBeProtected(text)) return true
    const words = new Set([...wordsOf(plain), ...joinedWords(text, variables, this.#wordParts)])
    return this.#wordsTouchFolder(words) || this.#wordsTouchFolder(bracedWords(plain)) || this.#treesTouchFolder(plain)
  }

  /** Does the same as `#textTouchesFolder` for one word without quotes, variables and separators. An input can have thousands of them. */
  #nameTouchesFolder(name: string, isCommand: boolean): boolean {
    const folded = foldPath(name)
    if (this.#mentions.some(mention => mentions(folded, mention))) return true
    if (!isCommand && this.#mayBeProtected(name)) return true
    return this.#wordsTouchFolder([name]) || this.#treesTouchFolder(name)
  }

  #wordsTouchFolder(words: Iterable<string>): boolean {
    const folders = new Set<string>()
    const paths: string[] = []
    for (const word of words) {
      if (word.startsWith('-') || word.length > pathMax) continue
      if (--this.#wordsLeft < 0) return false
      if (otherProcess.test(word)) return true
      paths.push(word)
      for (const path of this.#absolutePaths(word)) {
        const forms = this.#formsOf(path)
        if (this.#isProtected(forms)) return true
        if (this.#containsFolder(forms)) folders.add(path)
      }
    }
    // The command may change to another folder first. `cd` alone changes to the home folder.
    if (paths.includes('cd') || paths.includes('pushd')) folders.add(this.#options.home)
    if (folders.size === 0) return false
    return paths.some(word =>
      this.#absolutePaths(word, [...folders]).some(path => this.#isProtected(this.#formsOf(path))),
    )
  }

  /** Returns whether a command reads or changes a whole folder that contains the data folder. */
  #treesTouchFolder(text: string): boolean {
    if (!mayReachTrees.test(text)) return false
    const usesFound = hasFindAction(text)
    let folders = this.#cwds
    for (const words of simpleCommands(text)) {
      if (words[0] === 'cd' || words[0] === 'pushd') folders = this.#absolutePaths(words[1] ?? '~', folders)
      const command = treeCommand(words, usesFound)
      if (command === null) continue
      this.#wordsLeft -= words.length
      if (this.#wordsLeft < 0) return false
      const paths = command.operands.flatMap(operand => this.#absolutePaths(operand, folders))
      if (paths.some(path => this.#containsFolder(this.#formsOf(path)))) return true
      // An operand that does not exist is not a path, but for example an expression to search for.
      const usesCurrentFolder = command.defaultsToCurrentFolder && !paths.some(path => this.#exists(path))
      if (usesCurrentFolder && folders.some(folder => this.#containsFolder(this.#formsOf(folder)))) return true
    }
    return false
  }

  /** Returns the absolute paths that a word can mean. */
  #absolutePaths(word: string, folders = this.#cwds): readonly string[] {
    const { home } = this.#options
    // `~+` and `~-` are the current and the previous folder.
    const current = /^(?:~[+-]|\/proc\/(?:thread-)?self\/cwd)(?=\/|$)/.exec(word)
    if (current) return folders.map(folder => `${folder}${word.slice(current[0].length)}`)
    const tilde = /^~[\w.-]*(?=\/|$)/.exec(word)
    if (tilde) return [`${home}${word.slice(tilde[0].length)}`]
    if (!word.startsWith('/')) return folders.map(folder => `${folder}/${word}`)
    return [word.replace(/^\/proc\/(?:thread-)?self\/root(?=\/|$)/, '') || '/']
  }

  #mayBeProtected(word: string): boolean {
    return this.#absolutePaths(word).some(path => this.#isProtected(this.#formsOf(path)))
  }
  #mayContainFolder(word: string): boolean {
    return this.#absolutePaths(word).some(path => this.#containsFolder(this.#formsOf(path)))
  }

  #isProtected({ normal, real }: PathForms): boolean {
    // The part of a pattern before its first special character may lead through links.
    const reaches = (path: string, folder: string) =>
      isPattern(path) ? patternReaches(path, folder) : isInside(path, folder)
    return this.#folders.some(folder => reaches(normal, folder) || reaches(real, folder))
  }
  /** Returns whether this folder is the data folder or contains it. */
  #containsFolder({ normal, real }: PathForms): boolean {
    return this.#folders.some(folder => isInside(folder, normal) || isInside(folder, real))
  }

  #formsOf(path: string): PathForms {
    const known = this.#forms.get(path)
    if (known) return known
    const normal = joinPath('/', path)
    const forms = { normal: foldPath(normal), real: foldPath(this.#realPath(path, normal)) }
    this.#forms.set(path, forms)
    return forms
  }
  #exists(path: string): boolean {
    return --this.#lookupsLeft >= 0 && this.#options.realPath(path) !== null
  }
  /** Returns the path without symbolic links, as far as it exists. */
  #realPath(path: string, normal: string): string {
    // A path without `..` can be normalized before its symbolic links are resolved.
    return path.length > pathMax ? path : this.#lookup(path.includes('..') ? path : normal)
  }
  #lookup(path: string): string {
    const known = this.#realPaths.get(path)
    if (known !== undefined) return known
    if (--this.#lookupsLeft < 0) return path
    const parent = parentOf(path)
    const real =
      this.#options.realPath(path) ??
      (parent === path ? path : joinPath(this.#lookup(parent), path.slice(path.lastIndexOf('/') + 1)))
    this.#realPaths.set(path, real)
    return real
  }
}

function searchedFolders(input: JsonObject): readonly string[] {
  const named = searchedFields.map(field => input[field]).filter(value => typeof value === 'string')
  return named.length === 0 ? ['.'] : named
}

/** Returns whether the text can read the environment of another process. The command may compute the process id, so any id counts. */
function readsEnvironments(text: string): boolean {
  const others = text.replace(ownEnvironment, '')
  return others.includes('/proc/') && anyEnvironment.test(others)
}
