/** Checks that the OpenAPI document and docs/api.md are complete, consistent and up to date. */
import { readFileSync } from 'node:fs'
import { contract, faultCodes, type Operation } from '@holdpoint/protocol'
import { describe, expect, it } from 'vitest'
import { type JsonSchema, type OpenapiDocument, type OpenapiOperation, openapiDocument } from '../src/openapi.ts'

const document = openapiDocument('0.1.0')
const { schemas } = document.components
const operations: readonly OpenapiOperation[] = Object.values(document.paths).flatMap(path => Object.values(path))

type Visit = (schema: JsonSchema, at: string) => void
const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
/** Visits a schema and the schemas inside it. */
function walk(schema: unknown, at: string, visit: Visit): void {
  if (!isObject(schema)) return
  visit(schema, at)
  for (const [name, field] of Object.entries(schema.properties ?? {})) walk(field, `${at}.${name}`, visit)
  walk(schema.items, `${at}[]`, visit)
  walk(schema.additionalProperties, `${at}.*`, visit)
  for (const keyword of ['anyOf', 'oneOf', 'allOf'])
    for (const [i, each] of Object.entries(schema[keyword] ?? [])) walk(each, `${at}|${i}`, visit)
}
function walkAll(visit: Visit): void {
  for (const [name, schema] of Object.entries(schemas)) walk(schema, name, visit)
  for (const { operationId, parameters, requestBody, responses } of operations) {
    for (const { name, schema } of parameters) walk(schema, `${operationId}(${name})`, visit)
    walk(requestBody?.content['application/json'].schema, `${operationId}(body)`, visit)
    for (const [status, { content }] of Object.entries(responses))
      walk(content['application/json'].schema, `${operationId} ${status}`, visit)
  }
}
const nameOfRef = (schema: JsonSchema) => String(schema.$ref ?? '').replace('#/components/schemas/', '')
/** Returns whether a field has its own description or refers to a named schema with a description. */
const isDescribed = (schema: JsonSchema) =>
  typeof schema.description === 'string' || typeof schemas[nameOfRef(schema)]?.description === 'string'

describe('the OpenAPI document', () => {
  it('the OpenAPI document contains every operation of the contract with a summary', () => {
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(contract).sort())
    expect(operations.filter(({ summary }) => !/^[A-Z].+\.$/.test(summary)).map(op => op.operationId)).toEqual([])
  })

  it('the OpenAPI document describes every parameter and every field of every input and output', () => {
    const missing = new Set<string>()
    for (const { operationId, parameters } of operations)
      for (const parameter of parameters)
        if (!parameter.description && !isDescribed(parameter.schema)) missing.add(`${operationId}(${parameter.name})`)
    walkAll((schema, at) => {
      for (const [name, field] of Object.entries(schema.properties ?? {}))
        if (!isDescribed(field as JsonSchema)) missing.add(`${at}.${name}`) // a property is a schema
    })
    expect([...missing]).toEqual([])
  })

  it('the OpenAPI document describes every named schema', () => {
    expect(Object.keys(schemas).filter(name => !schemas[name]?.description)).toEqual([])
  })

  it('the OpenAPI document has only references that resolve', () => {
    const broken: string[] = []
    walkAll((schema, at) => {
      if ('$ref' in schema && !Object.hasOwn(schemas, nameOfRef(schema))) broken.push(`${at}: ${schema.$ref}`)
    })
    expect(broken).toEqual([])
  })

  it('the OpenAPI document refers to a named schema instead of repeating it', () => {
    const normalize = ({ description, ...rest }: JsonSchema) => JSON.stringify(rest)
    const named = new Map(Object.entries(schemas).map(([name, schema]) => [normalize(schema), name]))
    const repeated: string[] = []
    walkAll((schema, at) => {
      const isStructured = 'properties' in schema || 'enum' in schema || 'oneOf' in schema || 'pattern' in schema
      const name = isStructured ? named.get(normalize(schema)) : undefined
      if (name && name !== at) repeated.push(`${at} repeats ${name}`)
    })
    expect(repeated).toEqual([])
  })

  it('the OpenAPI document names the faults of every operation with their statuses', () => {
    const codes = new Set<string>()
    for (const { operationId, responses } of operations) {
      const { faults = [] }: Operation = contract[operationId as keyof typeof contract] // an earlier test checks that each id is an operation name
      for (const [status, { description }] of Object.entries(responses))
        for (const [, code = '', named] of description.matchAll(/`(\w+)` \((\d+)\)/g)) {
          codes.add(code)
          if (status !== 'default') expect([named, faults], `${operationId} ${code}`).toEqual([status, faults])
        }
      const listed = Object.values(responses).map(({ description }) => description)
      for (const code of faults) expect(listed.join('\n'), `${operationId} ${code}`).toContain(`\`${code}\``)
    }
    for (const code of codes) expect(faultCodes).toContain(code)
    expect(document['x-faults'].map(({ code }) => code)).toEqual(faultCodes)
  })

  it('the OpenAPI document requires a token or a cookie, except for sign-in and the proof of the gateway', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'cookie'])
    expect(operations.filter(({ security }) => security?.length === 0).map(op => op.operationId)).toEqual([
      'signIn',
      'describeLink',
      'proveGateway',
    ])
  })
})

describe('docs/api.md', () => {
  it('docs/api.md is up to date with the contract: run `npm run api-reference` after a change', async () => {
    const script = new URL('../../../scripts/api-reference.mjs', import.meta.url).href
    const { renderApiReference } = (await import(script)) as {
      renderApiReference: (document: OpenapiDocument) => string
    } // the script exports this function
    const stored = readFileSync(new URL('../../../docs/api.md', import.meta.url), 'utf8')
    expect(stored).toBe(renderApiReference(document))
  })
})
