// The tabs of the API reference: the call of each operation in every language that has a client. A test runs them.
import type { Method } from '../../packages/protocol/src/methods.ts'

export interface Sample {
  readonly title: string
  /** Of the code block, as highlighters call it. */
  readonly language: string
  readonly code: string
}

type Body = Readonly<Record<string, unknown>>

/** Where the body of the test vectors is not the one that a reader should begin with. */
const bodies: Partial<Record<Method, Body>> = {
  'service.trade.create': {
    order: {
      orderNo: 'A-1001',
      orderAmount: '12.50',
      goods: [{ referenceGoodsId: 'tea', goodsName: 'Green tea', goodsAmount: '12.50' }],
    },
    paymentAmount: '12.50',
    currency: 'EUR',
    callbackUrl: 'https://shop.example/callbacks',
    redirectUrl: 'https://shop.example/thanks',
  },
  'service.trade.refund': {
    paymentId: 'P01K73ZQ800JZ7V3N4Q5R6S7T8W',
    referRefundNo: 'A-1001-R1',
    refundAmount: '5.00',
  },
}

/** What the clients add to a create by themselves. */
const timesInShell =
  '"channel": "WEB", "paymentTime": \'$(date +%s)000\', "paymentExpiryTime": \'$(($(date +%s) + 1800))000\''

const results: Readonly<Record<string, string>> = {
  'service.trade.create': 'order',
  'service.trade.query': 'order',
  'service.trade.cancel': 'order',
  'service.trade.refund': 'refund',
  'service.sandbox.requests': 'log',
}

function resultOf(method: string): string {
  return results[method] ?? /link|bill|order|callback/.exec(method)?.[0] ?? 'answer'
}

/** The SDK's own name for a method, and what it takes: the whole body or one field of it. */
const inSdk: Readonly<Record<string, readonly [call: string, field?: string]>> = {
  'service.trade.create': ['orders.create'],
  'service.trade.query': ['orders.query', 'paymentId'],
  'service.trade.cancel': ['orders.cancel', 'paymentId'],
  'service.trade.refund': ['refunds.create'],
  'service.trade.callback': ['callbacks.resend', 'paymentId'],
  'service.order.list': ['orders.list'],
  'service.order.capture': ['orders.capture'],
  'service.order.scan': ['orders.scan'],
  'service.order.release': ['orders.release', 'paymentId'],
  'service.bill.get': ['bills.get', 'date'],
  'service.link.create': ['links.create'],
  'service.link.query': ['links.query'],
  'service.link.close': ['links.close', 'linkId'],
  'service.sandbox.pay': ['sandbox.pay'],
  'service.sandbox.advance': ['sandbox.advance'],
  'service.sandbox.listen': ['sandbox.listen'],
  'service.sandbox.acknowledge': ['sandbox.acknowledge'],
  'service.sandbox.requests': ['sandbox.requests'],
}

/** Which fields the other clients take as arguments; every other method goes by its name and body. */
const byArguments: Readonly<Record<string, readonly string[]>> = {
  'service.trade.query': ['paymentId'],
  'service.trade.cancel': ['paymentId'],
  'service.trade.refund': ['paymentId', 'referRefundNo', 'refundAmount'],
  'service.bill.get': ['date'],
}

export function samplesOf(method: Method, path: string, vectorBody: Body): Sample[] {
  const body = bodies[method] ?? vectorBody
  const result = resultOf(method)
  const verb = method === 'service.bill.get' ? 'bill' : (method.split('.').at(-1) ?? '')
  const fields = byArguments[method]?.map((name) => JSON.stringify(body[name]))
  const isCreate = method === 'service.trade.create'
  const called = (open: string, name: string, written: string) =>
    `${open}${fields || isCreate ? '' : `"${method}", `}${name}${fields?.join(', ') ?? written}`
  const sdk = inSdk[method]
  return [
    { title: 'curl', language: 'sh', code: curl(method, path, body) },
    ...(sdk
      ? [
          {
            title: 'TypeScript',
            language: 'ts',
            code: `const ${result} = await tillgate.${sdk[0]}(${inScript(sdk[1] ? body[sdk[1]] : body)})`,
          },
        ]
      : []),
    {
      title: 'Python',
      language: 'python',
      code:
        method === 'service.trade.query'
          ? `${result} = tillgate.query(payment_id=${fields?.[0]})`
          : `${result} = tillgate.${fields || isCreate ? verb : 'call'}(${called('', '', inPython(body))})`,
    },
    {
      title: 'PHP',
      language: 'php',
      code: `$${result} = $tillgate->${
        byArguments[method]
          ? `${verb}(${byArguments[method].map((name) => inPhp(body[name])).join(', ')})`
          : isCreate
            ? `create(${inPhp(body)})`
            : `call('${method}', ${inPhp(body)})`
      };`,
    },
    {
      title: 'Go',
      language: 'go',
      code: `${result}, err := client.${fields || isCreate ? capital(verb) : 'Call'}(ctx, ${called('', '', inGo(body))})`,
    },
    {
      title: 'Java',
      language: 'java',
      code: `Map<?, ?> ${result} = tillgate.${fields || isCreate ? verb : 'call'}(${called('', '', inJava(body))});`,
    },
  ]
}

function curl(method: string, path: string, body: Body): string {
  const text = inJson(body)
  const whole = method === 'service.trade.create' ? text.replace(/\n}$/, `,\n  ${timesInShell}\n}`) : text
  return `sh seal.sh ${method} '${whole}' |
  curl -s "$GATEWAY${path}" -H 'content-type: application/json' -d @-`
}

interface Syntax {
  readonly object: readonly [open: string, close: string]
  readonly list: readonly [open: string, close: string]
  readonly pair: (name: string, value: string) => string
  readonly text: (value: string) => string
  readonly endsWithComma: boolean
  /** Of whole numbers beyond 32 bits. */
  readonly longSuffix?: string
}

function write(value: unknown, syntax: Syntax, indent = ''): string {
  if (typeof value === 'string') return syntax.text(value)
  if (typeof value === 'number' && value > 2 ** 31) return `${value}${syntax.longSuffix ?? ''}`
  if (typeof value !== 'object' || value === null) return `${value}`
  const isList = Array.isArray(value)
  const [open, close] = isList ? syntax.list : syntax.object
  const inner = `${indent}  `
  const parts = (place: string) =>
    isList
      ? value.map((each) => write(each, syntax, place))
      : Object.entries(value).map(([name, each]) => syntax.pair(name, write(each, syntax, place)))
  const line = `${open}${parts(indent).join(', ')}${close}`
  if (line.length + indent.length < 92 && !line.includes('\n')) return line
  const end = syntax.endsWithComma ? ',' : ''
  return `${open.trim()}\n${parts(inner)
    .map((part) => `${inner}${part}`)
    .join(',\n')}${end}\n${indent}${close.trim()}`
}

const quoted = (value: string) => JSON.stringify(value)

function inJson(value: unknown): string {
  return write(value, {
    object: ['{', '}'],
    list: ['[', ']'],
    pair: (name, each) => `"${name}": ${each}`,
    text: quoted,
    endsWithComma: false,
  })
}

function inScript(value: unknown): string {
  return write(value, {
    object: ['{ ', ' }'],
    list: ['[', ']'],
    pair: (name, each) => `${name}: ${each}`,
    text: (each) => `'${each.replaceAll("'", "\\'")}'`,
    endsWithComma: true,
  })
}

function inPython(value: unknown): string {
  return write(value, {
    object: ['{', '}'],
    list: ['[', ']'],
    pair: (name, each) => `"${name}": ${each === 'true' ? 'True' : each}`,
    text: quoted,
    endsWithComma: true,
  })
}

function inPhp(value: unknown): string {
  return write(value, {
    object: ['[', ']'],
    list: ['[', ']'],
    pair: (name, each) => `'${name}' => ${each}`,
    text: (each) => `'${each}'`,
    endsWithComma: true,
  })
}

function inGo(value: unknown): string {
  return write(value, {
    object: ['tillgate.Data{', '}'],
    list: ['[]tillgate.Data{', '}'],
    pair: (name, each) => `"${name}": ${each}`,
    text: quoted,
    endsWithComma: true,
  })
}

function inJava(value: unknown): string {
  return write(value, {
    object: ['Map.of(', ')'],
    list: ['List.of(', ')'],
    pair: (name, each) => `"${name}", ${each}`,
    text: quoted,
    endsWithComma: false,
    longSuffix: 'L',
  })
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** How the clients are made that the samples call. */
export const clientSetup: readonly Sample[] = [
  {
    title: 'curl',
    language: 'sh',
    code: `export GATEWAY=http://localhost:8080
export CREDENTIALS=data/sandbox-merchant.json
cp examples/seal.sh .`,
  },
  {
    title: 'TypeScript',
    language: 'ts',
    code: `import { Tillgate } from '@tillgate/sdk'

const tillgate = Tillgate.fromFile('data/sandbox-merchant.json')`,
  },
  {
    title: 'Python',
    language: 'python',
    code: `from tillgate import Tillgate

tillgate = Tillgate.from_file("data/sandbox-merchant.json")`,
  },
  {
    title: 'PHP',
    language: 'php',
    code: `use Tillgate\\Tillgate;

$tillgate = Tillgate::fromFile('data/sandbox-merchant.json');`,
  },
  {
    title: 'Go',
    language: 'go',
    code: `client, err := tillgate.FromFile("data/sandbox-merchant.json")`,
  },
  {
    title: 'Java',
    language: 'java',
    code: `Tillgate tillgate = Tillgate.fromFile(Path.of("data/sandbox-merchant.json"));`,
  },
]

/** As consecutive blocks, which the documentation shows as tabs and code hosting sites one below the other. */
export function tabs(samples: readonly Sample[]): string {
  const blocks = samples.map(
    ({ title, language, code }) => `**${title}**\n\n<!-- run: tab -->\n\`\`\`${language}\n${code}\n\`\`\``,
  )
  return `<!-- tabs -->\n\n${blocks.join('\n\n')}\n\n<!-- end of tabs -->\n`
}
