/** OpenAPI 3.1, printed from the contract: nothing here is written by hand that the contract already says. */
import { apiRoot, contract, FaultBody, type Operation } from '@holdpoint/protocol'

type Schema = Readonly<Record<string, unknown>>

let printed: { readonly version: string; readonly text: string } | null = null

export function openapiText(version: string): string {
  if (printed?.version !== version) printed = { version, text: JSON.stringify(print(version)) }
  return printed.text
}

function print(version: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  for (const [name, op] of Object.entries<Operation>(contract)) {
    const path = op.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [op.method.toLowerCase()]: printOperation(name, op) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Holdpoint', version, summary: 'The place where AI agents stop and ask' },
    servers: [{ url: apiRoot }],
    security: [{ bearer: [] }],
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
      schemas: { Fault: FaultBody.toJSONSchema({ unrepresentable: 'any' }) },
    },
    paths,
  }
}

function printOperation(name: string, op: Operation): Schema {
  const { properties, required } = objectSchema(op)
  const inPath = [...op.path.matchAll(/:(\w+)/g)].map(match => match[1] as string) // the pattern has one group
  const inQuery = op.method === 'GET' || op.method === 'DELETE'
  const others = Object.keys(properties).filter(member => !inPath.includes(member))
  const parameters = [...inPath, ...(inQuery ? others : [])].map(member => ({
    name: member,
    in: inPath.includes(member) ? 'path' : 'query',
    required: required.includes(member),
    schema: properties[member],
  }))
  const body = {
    type: 'object',
    properties: Object.fromEntries(others.map(member => [member, properties[member]])),
    required: required.filter(member => others.includes(member)),
    additionalProperties: false,
  }
  const output = op.output.toJSONSchema({ io: 'output', unrepresentable: 'any' })
  return {
    operationId: name,
    summary: op.summary,
    'x-roles': op.roles,
    ...(op.roles.includes('anyone') ? { security: [] } : {}),
    parameters: op.method === 'POST' ? [...parameters, idempotencyKey] : parameters,
    ...(inQuery || others.length === 0 ? {} : { requestBody: { required: true, content: json(body) } }),
    responses: {
      [String(op.status ?? 200)]: { description: op.summary, content: json(output) },
      default: { description: 'A fault', content: json({ $ref: '#/components/schemas/Fault' }) },
    },
  }
}

const idempotencyKey = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }

function json(schema: object): Schema {
  return { 'application/json': { schema } }
}

function objectSchema(op: Operation): { properties: Record<string, object>; required: readonly string[] } {
  const schema = op.input.toJSONSchema({ io: 'input', unrepresentable: 'any' })
  // An input is an object, by its type in Op; its printed members are schemas.
  return { properties: (schema.properties ?? {}) as Record<string, object>, required: schema.required ?? [] }
}
