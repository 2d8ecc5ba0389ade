// Writes the linter's rules for imports inside the gateway into biome.json. They follow from the order of modules and
// from what each kind of file may know.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layers } from './modules.ts'

const source = 'packages/gateway/src'
const configPath = join(import.meta.dirname, '../biome.json')

interface Kind {
  readonly at: string
  readonly excluding?: readonly string[]
  readonly forbidden: readonly string[]
  readonly message: string
}

const drivers = ['pg', 'fastify', 'undici']
const edges = ['**/http/**', '**/outbound/**', '**/settings/**', '**/observability/**']

/** What files in a layer may not know, beside the layers above. Later kinds replace earlier ones where both match. */
const capability: readonly Kind[] = [
  {
    at: '**',
    forbidden: [...drivers, ...edges, '**/database/pool.ts'],
    message: 'Operations know rules, stores and other operations; no driver, nothing above.',
  },
  {
    at: '**/rules/**',
    forbidden: [
      ...['node:*', '!node:assert', '!node:assert/strict', 'pino', ...drivers],
      ...[...edges, '**/store/**', '**/database/**', '../*.ts'],
    ],
    message: 'Rules are pure: they import protocol, pure parts of the platform, and rules of lower modules.',
  },
  {
    at: '**/store/**',
    forbidden: ['fastify', 'undici', ...edges, '../*.ts'],
    message: 'A store knows rules, the database and other stores; no operation, nothing above.',
  },
]

const kinds: Readonly<Record<string, readonly Kind[]>> = {
  platform: [
    { at: '**', forbidden: [], message: 'The platform knows nothing of payments.' },
    {
      at: 'runtime/**',
      forbidden: [...drivers, ...edges, '**/database/**'],
      message: 'The runtime is what everything stands on: it imports nothing of ours above protocol.',
    },
    {
      at: 'database/**',
      forbidden: ['fastify', 'undici', ...edges],
      message: 'The database engine knows nothing of what runs on it.',
    },
    {
      at: 'observability/**',
      forbidden: [...drivers, '**/database/**', '**/http/**', '**/outbound/**'],
      message: 'Metrics and tracing know nothing of what they measure.',
    },
    {
      at: 'outbound/**',
      forbidden: ['fastify', 'pg', '**/database/**', '**/http/**'],
      message: 'The outbound client knows nothing of who sends.',
    },
    {
      at: 'http/**',
      forbidden: ['pg', 'undici', '**/database/**', '**/store/**'],
      message: 'HTTP serves every adapter and knows none.',
    },
  ],
  core: capability,
  finance: capability,
  identity: capability,
  sandbox: capability,
  actions: [
    {
      at: '**',
      excluding: ['**/store/**'],
      forbidden: [...drivers, '**/database/pool.ts', '**/http/**', '**/outbound/**'],
      message: 'Actions call operations, and know no adapter.',
    },
  ],
  adapters: [
    {
      at: '**',
      excluding: ['cli/{context,db}.ts'],
      forbidden: ['pg', 'undici', '**/database/**'],
      message: 'Adapters call operations; only app/ knows concrete parts.',
    },
  ],
  app: [
    { at: '**', forbidden: [], message: 'Only the process itself starts at main.ts.' },
    {
      at: '{jobs,processes}/**',
      forbidden: [...drivers, '**/database/**'],
      message: 'Jobs and processes call operations; only the composition knows concrete parts.',
    },
    {
      at: 'settings/**',
      forbidden: ['fastify', 'pg', '**/store/**', '**/http/**', '**/outbound/**'],
      message: 'Settings know rules, and nothing that runs.',
    },
  ],
}

export function moduleOverrides(): readonly unknown[] {
  return layers.flatMap((layer, at) => {
    const above = [...layers.slice(at + 1).map((each) => `**/${each}/**`), '**/main.ts']
    return (kinds[layer] ?? []).map(({ at: files, excluding = [], forbidden, message }) => ({
      includes: [
        `${source}/${layer}/${files}`,
        ...excluding.map((each) => `!${source}/${layer}/${each}`),
        '!**/*.test.ts',
      ],
      linter: {
        rules: {
          style: {
            noRestrictedImports: {
              level: 'error',
              options: { patterns: [{ group: [...forbidden, ...above], message }] },
            },
          },
        },
      },
    }))
  })
}

export interface LinterConfig {
  readonly overrides: readonly { readonly includes: readonly string[] }[]
}

/** The configuration with the rules of today's modules, after whatever is not about the gateway's source. */
export function withModuleRules(config: LinterConfig): LinterConfig {
  const others = config.overrides.filter(({ includes }) => !includes[0]?.startsWith(source))
  return { ...config, overrides: [...others, ...(moduleOverrides() as LinterConfig['overrides'])] }
}

if (import.meta.main) {
  const config = JSON.parse(readFileSync(configPath, 'utf8')) as LinterConfig
  writeFileSync(configPath, `${JSON.stringify(withModuleRules(config), null, 2)}\n`)
}
