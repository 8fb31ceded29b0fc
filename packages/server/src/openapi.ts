/** Builds the OpenAPI 3.1 document from the contract. Each named schema becomes a component, and all other schemas refer to the components. */
import {
  apiRoot,
  commonFaults,
  type FaultCode,
  faultCodes,
  faultDescriptions,
  faultStatus,
  namedSchemas,
  type Operation,
  type OperationName,
  operationGroups,
  rolesFor,
} from '@holdpoint/protocol'
import { z } from 'zod'

export type JsonSchema = { readonly [key: string]: unknown }
export interface OpenapiOperation {
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-roles': readonly string[]
  readonly parameters: readonly {
    readonly name: string
    readonly in: string
    readonly required: boolean
    readonly description?: string
    readonly schema: JsonSchema
  }[]
  readonly requestBody?: { readonly required: boolean; readonly content: MediaTypes }
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content: MediaTypes }>>
  readonly security?: readonly JsonSchema[]
}
interface MediaTypes {
  readonly 'application/json': { readonly schema: JsonSchema }
}
export interface OpenapiDocument {
  readonly openapi: string
  readonly info: JsonSchema
  readonly servers: readonly JsonSchema[]
  readonly tags: readonly JsonSchema[]
  readonly security: readonly JsonSchema[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenapiOperation>>>>
  readonly components: {
    readonly securitySchemes: JsonSchema
    readonly schemas: Readonly<Record<string, JsonSchema>>
  }
  readonly 'x-faults': readonly {
    readonly code: string
    readonly status: number
    readonly isCommon: boolean
    readonly description: string
  }[]
}

let built: { readonly version: string; readonly text: string } | null = null

/** Returns the document as JSON. Builds the document at the first request and not at start, because building takes a while. */
export function openapiText(version: string): string {
  if (built?.version !== version) built = { version, text: JSON.stringify(openapiDocument(version)) }
  return built.text
}

const groupDescriptions: Readonly<Record<keyof typeof operationGroups, string>> = {
  people: 'Start and read sessions, and answer requests.',
  agents: 'Open requests, append events, and carry out commands.',
  runners: 'Announce a runner and find sessions to run.',
  admin: 'Manage rules and tokens, read the audit log, sign in, and make backups.',
}

export function openapiDocument(version: string): OpenapiDocument {
  const groups = Object.entries<Readonly<Record<string, Operation>>>(operationGroups)
  const operations = groups.flatMap(([group, members]) =>
    Object.entries(members).map(([name, op]) => ({ group, name, op })),
  )
  const inputs = generateSchemas(
    'input',
    operations.map(({ op }) => op.input),
  )
  const outputs = generateSchemas(
    'output',
    operations.map(({ op }) => op.output),
  )
  const paths: Record<string, Record<string, OpenapiOperation>> = {}
  for (const { group, name, op } of operations) {
    const path = op.path.replace(/:(\w+)/g, '{$1}')
    const described = describeOperation(group, name as OperationName, op, inputs, outputs) // the groups contain only operations of the contract

    paths[path] = { ...paths[path], [op.method.toLowerCase()]: described }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdpoint', version, summary: 'The gateway where AI agents stop and ask people' },
    servers: [{ url: apiRoot }],
    tags: Object.entries(groupDescriptions).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }, { cookie: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The secret of a token. `holdpoint up` creates a token for the user who runs it, and `addToken` creates more tokens.',
        },
        cookie: {
          type: 'apiKey',
          in: 'cookie',
          name: 'holdpoint_<port>',
          description:
            'The cookie that `signIn` sets in a browser. Every call also needs the header `x-holdpoint-page` with the page secret that `signIn` returned.',
        },
      },
      schemas: mergeComponents(inputs, outputs),
    },
    'x-faults': faultCodes.map(code => ({
      code,
      status: faultStatus[code],
      isCommon: commonCodes.has(code),
      description: faultDescriptions[code],
    })),
  }
}

const commonCodes: ReadonlySet<FaultCode> = new Set(commonFaults)

type Io = 'input' | 'output'
interface GeneratedSchemas {
  /** Returns a $ref for a named zod schema, and the JSON Schema itself for any other. */
  use(schema: z.ZodType): JsonSchema
  /** Returns the JSON Schema of a zod schema, even if the schema is named. */
  expand(schema: z.ZodType): JsonSchema
  readonly named: ReadonlyMap<string, JsonSchema>
  /** The names of all schemas that `roots` refer to, directly or indirectly. */
  readonly reachable: ReadonlySet<string>
}

const refPrefix = '#/components/schemas/'

function generateSchemas(io: Io, roots: readonly z.ZodType[]): GeneratedSchemas {
  const ids = new Map<z.ZodType, string>(Object.entries(namedSchemas).map(([name, schema]) => [schema, name]))
  const isNamed = (id: string) => Object.hasOwn(namedSchemas, id)
  for (const root of roots) if (!ids.has(root)) ids.set(root, `root${ids.size}`)
  const registry = z.registry<{ id: string }>()
  for (const [schema, id] of ids) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    uri: id => refPrefix + id,
    // Clients must accept new fields, so only strict objects get `additionalProperties: false`.
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod
      if (def.type === 'object' && !(def as z.core.$ZodObjectDef).catchall) delete jsonSchema.additionalProperties
    },
  })
  const byId = new Map(
    Object.entries(schemas).map(([id, { $schema, $id, ...schema }]): [string, JsonSchema] => [id, schema]),
  )
  const idOf = (schema: z.ZodType) => ids.get(schema) ?? ''
  const expand = (schema: z.ZodType) => byId.get(idOf(schema)) ?? {}
  const use = (schema: z.ZodType) => (isNamed(idOf(schema)) ? { $ref: refPrefix + idOf(schema) } : expand(schema))
  const named = new Map([...byId].filter(([id]) => isNamed(id)))
  const reachable = new Set<string>()
  const visit = (schema: JsonSchema): void => {
    for (const name of refsIn(schema)) {
      if (reachable.has(name)) continue
      reachable.add(name)
      visit(named.get(name) ?? {})
    }
  }
  for (const root of roots) visit(use(root))
  return { use, expand, named, reachable }
}

function refsIn(schema: JsonSchema): string[] {
  return [...JSON.stringify(schema).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    match => match[1] as string,
  ) // the pattern has exactly one group
}

/** Merges the components: a schema that only inputs use has its input form, and every other schema has its output form. */
function mergeComponents(inputs: GeneratedSchemas, outputs: GeneratedSchemas): Record<string, JsonSchema> {
  const components: Record<string, JsonSchema> = {}
  for (const name of Object.keys(namedSchemas)) {
    const [input, output] = [inputs.named.get(name) ?? {}, outputs.named.get(name) ?? {}]
    const isForInputs = inputs.reachable.has(name)
    const isForOutputs = outputs.reachable.has(name)
    if (isForInputs && isForOutputs && JSON.stringify(input) !== JSON.stringify(output))
      throw new Error(`The schema ${name} differs between input and output. Give the two forms different names.`)
    components[name] = isForInputs && !isForOutputs ? input : output
  }
  return components
}

function describeOperation(
  group: string,
  name: OperationName,
  op: Operation,
  inputs: GeneratedSchemas,
  outputs: GeneratedSchemas,
): OpenapiOperation {
  const { properties = {}, required = [] } = inputs.expand(op.input) as {
    properties?: Readonly<Record<string, JsonSchema>>
    required?: readonly string[]
  } // `Operation` allows only object schemas as input
  const roles = rolesFor(name)
  const inPath = [...op.path.matchAll(/:(\w+)/g)].map(match => match[1] as string) // the pattern has exactly one group
  const isInQuery = op.method === 'GET' || op.method === 'DELETE'
  const others = Object.keys(properties).filter(field => !inPath.includes(field))
  const parameters = [...inPath, ...(isInQuery ? others : [])].map(field => {
    const { description, ...schema } = properties[field] ?? {}
    return {
      name: field,
      in: inPath.includes(field) ? 'path' : 'query',
      required: required.includes(field),
      ...(typeof description === 'string' && { description }),
      schema,
    }
  })
  const body = {
    type: 'object',
    properties: Object.fromEntries(others.map(field => [field, properties[field]])),
    required: required.filter(field => others.includes(field)),
    additionalProperties: false,
  }
  return {
    operationId: name,
    summary: op.summary,
    tags: [group],
    'x-roles': roles.includes('nobody') ? ['nobody'] : roles,
    ...(roles.includes('nobody') && { security: [] }),
    parameters: op.method === 'POST' ? [...parameters, idempotencyKey] : parameters,
    ...(!isInQuery &&
      others.length > 0 && {
        requestBody: { required: true, content: json(inPath.length === 0 ? inputs.use(op.input) : body) },
      }),
    responses: {
      [String(op.status ?? 200)]: { description: 'Success', content: json(outputs.use(op.output)) },
      ...faultResponses(op.faults ?? []),
      default: { description: listFaults(commonFaults), content: json(faultRef) },
    },
  }
}

const faultRef = { $ref: `${refPrefix}Fault` }

function faultResponses(codes: readonly FaultCode[]): OpenapiOperation['responses'] {
  const byStatus = new Map<number, FaultCode[]>()
  for (const code of codes) byStatus.set(faultStatus[code], [...(byStatus.get(faultStatus[code]) ?? []), code])
  return Object.fromEntries(
    [...byStatus].map(([status, same]) => [status, { description: listFaults(same), content: json(faultRef) }]),
  )
}

function listFaults(codes: readonly FaultCode[]): string {
  return codes.map(code => `\`${code}\` (${faultStatus[code]}): ${faultDescriptions[code]}`).join('\n')
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes it safe to repeat a call: for 24 hours, a call with the same key and body returns the first result.',
  schema: { type: 'string' },
}

function json(schema: JsonSchema): MediaTypes {
  return { 'application/json': { schema } }
}
