// `npm run pack` makes tillgate-<version>.tgz: the gateway, its command line and `till` as one package that runs without
// the repository (`npx ./tillgate-<version>.tgz`). The program is bundled, because loading 900 files costs half a second
// of every start. The package mirrors the folders of the repository, so every file is where the source expects it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { sdkPackageFiles } from '../packages/gateway/src/adapters/merchant-api/sdk/package-files.ts'
import { tarball } from '../packages/gateway/src/adapters/merchant-api/sdk/tarball.ts'
import { commit } from '../packages/gateway/src/platform/runtime/version.ts'

const root = join(import.meta.dirname, '..')
const gateway = 'packages/gateway'

/** Files that the program reads while it runs, where the source looks for them. */
const carried = [
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  '.env.example',
  'clients',
  'docs',
  'examples/README.md',
  'rails/stripe/README.md',
  'rails/adyen/README.md',
  'rails/mollie/README.md',
  'rails/alipay/README.md',
  'rails/wechatpay/README.md',
  `${gateway}/check-node.js`,
  `${gateway}/compile-cache.js`,
  `${gateway}/migrations`,
  `${gateway}/src/adapters/kit/assets`,
]

const entries = {
  main: `${gateway}/src/main.ts`,
  'command-line': `${gateway}/src/app/command-line.ts`,
  'young-space': `${gateway}/src/platform/runtime/node-workarounds/young-space.ts`,
  'statement-thread': `${gateway}/src/finance/reconciliation/statement-thread.ts`,
  shop: 'examples/shop/main.ts',
  rail: 'examples/rail/main.ts',
  till: 'packages/sdk/src/cli/main.ts',
}

/** Packages of which the program loads one file by its path; npm installs them beside it. */
const beside = ['undici'] as const

/** Names of source files that the program looks up while it runs, and their places in the package. */
const led: Readonly<Record<string, readonly (readonly [from: string, to: string])[]>> = {
  [`${gateway}/src/app/sandbox/sandbox-programs.ts`]: [
    ["'shop/main.ts'", "'../dist/shop.js'"],
    ["'rail/main.ts'", "'../dist/rail.js'"],
  ],
  [`${gateway}/src/finance/reconciliation/read-file-in-thread.ts`]: [
    ["'./statement-thread.ts'", "'./statement-thread.js'"],
  ],
  [`${gateway}/start.js`]: [
    ["'./src/platform/runtime/node-workarounds/young-space.ts'", "'../../dist/young-space.js'"],
    ["'./src/main.ts'", "'../../dist/main.js'"],
  ],
  [`${gateway}/tillgate.js`]: [["'./src/app/command-line.ts'", "'../../dist/command-line.js'"]],
}

/** In a chunk `import.meta.dirname` is dist/; the sources mean their own folder. */
const inThePackage: Plugin = {
  name: 'places in the package',
  setup({ onLoad }) {
    onLoad({ filter: /\/(packages|examples)\/.*\.ts$/ }, ({ path }) => {
      const place = relative(root, path)
      if (place.includes('node_modules')) return undefined
      const folder = JSON.stringify(`/../${dirname(place)}`)
      const contents = readLed(place).replaceAll('import.meta.dirname', `(import.meta.dirname+${folder})`)
      return { contents, loader: 'ts' }
    })
  },
}

const out = resolve(process.argv[2] ?? root)
const stage = mkdtempSync(join(tmpdir(), 'tillgate-pack-'))
try {
  for (const path of carried) cpSync(join(root, path), join(stage, path), { recursive: true })
  rmSync(join(stage, 'docs/decisions'), { recursive: true, force: true })
  for (const path of [`${gateway}/start.js`, `${gateway}/tillgate.js`]) put(path, readLed(path))
  cpSync(join(root, gateway, 'bin'), join(stage, 'bin'), { recursive: true })
  for (const name of ['tillgate.js', 'till.js']) chmodSync(join(stage, 'bin', name), 0o755)
  put(`${gateway}/src/adapters/merchant-api/sdk/tillgate-sdk.tgz`, tarball(sdkPackageFiles()))
  put(
    `${gateway}/package.json`,
    `${JSON.stringify({ ...read(`${gateway}/package.json`), commit }, null, 2)}\n`,
  )
  put('package.json', `${JSON.stringify(manifest(), null, 2)}\n`)
  await bundle()
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', out], {
    cwd: stage,
    encoding: 'utf8',
  })
  assert.equal(packed.status, 0, packed.stderr)
  console.log(join(out, packed.stdout.trim()))
} finally {
  rmSync(stage, { recursive: true, force: true })
}

async function bundle(): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: entries,
    outdir: join(stage, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    minifySyntax: true,
    minifyWhitespace: true,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    external: [...beside],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    plugins: [inThePackage],
    logLevel: 'warning',
  })
}

function readLed(path: string): string {
  return (led[path] ?? []).reduce(
    (text, [from, to]) => {
      assert(text.includes(from), `${path} no longer names ${from}: change scripts/pack.ts`)
      return text.replace(from, to)
    },
    readFileSync(join(root, path), 'utf8'),
  )
}

function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(stage, path)), { recursive: true })
  writeFileSync(join(stage, path), content)
}

function read(path: string) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'))
}

function manifest() {
  const own = read('package.json')
  const { dependencies, optionalDependencies } = read(`${gateway}/package.json`)
  return {
    name: 'tillgate',
    version: own.version,
    description: own.description,
    license: own.license,
    type: 'module',
    bin: { tillgate: 'bin/tillgate.js', till: 'bin/till.js' },
    dependencies: Object.fromEntries(beside.map((name) => [name, dependencies[name]])),
    optionalDependencies: { ...optionalDependencies, ...own.optionalDependencies },
  }
}
