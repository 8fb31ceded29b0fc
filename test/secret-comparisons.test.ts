/** Tests case A11: nobody can find a secret by measuring how long its comparison takes. Secrets are looked up by their SHA-256 hash, or compared with `timingSafeEqual`, and never compared as texts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseSync } from 'vite'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const packages = ['protocol', 'rules', 'engine', 'store', 'drivers', 'server', 'client', 'cli'] as const
const files = packages.flatMap(name => {
  const folder = join(root, 'packages', name, 'src')
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => /\.tsx?$/.test(file))
    .map(file => join(folder, file))
})

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly operator?: string
  readonly left?: Node
  readonly right?: Node
  readonly callee?: Node & { readonly property?: { readonly name?: string }; readonly object?: Node }
  readonly arguments?: readonly Node[]
}

/** Names of values that somebody could guess. The hashes and ids of these values are not secrets. */
const secretName = /(?:secret|cookie|password|bearer|mac|proof|token)$/i
/** Values that reveal nothing: constants, and types of values. */
const constant = /^(?:null|undefined|true|false|-?\d+|'[^']*'|"[^"]*"|``|typeof .*)$/s

/** Returns the comparisons of texts with secrets in a source: with an operator, or by a method that stops at the first difference. */
function comparisonsIn(text: string, name = 'source.ts'): string[] {
  const found: string[] = []
  const sourceOf = ({ start, end }: Node) => text.slice(start, end)
  const isSecret = (node: Node) => secretName.test(sourceOf(node).replace(/[?!]+$/, ''))
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    const node = value as Node // other objects lack `type` and match nothing
    if (node.type === 'BinaryExpression' && /^[!=]==?$/.test(node.operator ?? '') && node.left && node.right) {
      const sides = [node.left, node.right]
      if (sides.some(isSecret) && !sides.some(side => constant.test(sourceOf(side)))) found.push(sourceOf(node))
    }
    if (node.type === 'CallExpression' && node.callee?.object) {
      const method = node.callee.property?.name ?? ''
      const isComparison = ['includes', 'indexOf', 'startsWith', 'endsWith', 'localeCompare'].includes(method)
      if (isComparison && (node.arguments ?? []).some(isSecret)) found.push(sourceOf(node))
    }
    for (const child of Object.values(value)) visit(child)
  }
  visit(parseSync(name, text).program.body)
  return found
}

/** Comparisons that look like those of secrets, and why each is safe. */
const publicId = 'compares the public ids of tokens'
const ownToken = 'a client compares its own token with the one that it sent before'
const harmless: Readonly<Record<string, string>> = {
  'packages/engine/src/gateway.ts: current().token === used.token': publicId,
  'packages/engine/src/operations/token-rotation.ts: token === id': publicId,
  'packages/engine/src/operations/tokens.ts: token === id': publicId,
  'packages/engine/src/operations/tokens.ts: token === input.id': publicId,
  'packages/engine/src/operations/tokens.ts: token === caller.token': publicId,
  'packages/client/src/gateway-proof.ts: claim.proof === (await hmac(tokenHash, proofText({ nonce, host, address: claim.address })))':
    'every proof is for a new nonce, so nothing can be learned from one attempt for the next',
  'packages/client/src/send-request.ts: currentToken(source) !== token': ownToken,
  'packages/client/src/socket-call.ts: currentToken(this.#options.token) !== this.#usedToken': ownToken,
}

describe('A11: secrets', () => {
  it('A11: secrets are never compared as texts, so that the time of a comparison reveals nothing', () => {
    const found = files.flatMap(file =>
      comparisonsIn(readFileSync(file, 'utf8'), file).map(code => `${relative(root, file)}: ${code}`),
    )
    expect(found.filter(line => !Object.hasOwn(harmless, line))).toEqual([])
    expect(Object.keys(harmless).filter(line => !found.includes(line))).toEqual([])
  })
  it('A11: the check finds comparisons of secrets, but ignores comparisons of hashes and ids', () => {
    expect(comparisonsIn('if (row.secret === given.secret) f()')).toHaveLength(1)
    expect(comparisonsIn('if (cookie != sent) f()')).toHaveLength(1)
    expect(comparisonsIn('secrets.includes(secret)')).toHaveLength(1)
    expect(comparisonsIn('if (row.secretHash === sha256(secret) || secret === undefined) f()')).toEqual([])
  })
})
