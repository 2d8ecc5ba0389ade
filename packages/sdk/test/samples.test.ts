// The samples in other languages: each against the test vectors and against a real gateway, where its language is
// on this machine. Where it is not, the test says so.
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { startTestGateway } from '../../gateway/test/support/gateway.ts'
import { callbackVectors, credentials as vectorCredentials } from './support/credentials.ts'

const root = resolve(import.meta.dirname, '../../..')
const vectors = join(root, 'docs/test-vectors.json')
const home = mkdtempSync(join(tmpdir(), 'tillgate-samples-'))
after(() => rmSync(home, { recursive: true, force: true }))

interface Sample {
  readonly folder: string
  /** Succeeds where the language, and what the sample needs of it, is there. */
  readonly probe: readonly [string, ...string[]]
  readonly prepare?: readonly [string, ...string[]]
  readonly vectors: readonly [string, ...string[]]
  readonly client: readonly [string, ...string[]]
}

const samples: readonly Sample[] = [
  {
    folder: 'python',
    probe: ['python3', '-c', 'import cryptography'],
    vectors: ['python3', 'check_vectors.py', vectors],
    client: ['python3', 'tillgate.py'],
  },
  {
    folder: 'php',
    probe: ['php', '-r', 'exit(extension_loaded("openssl") && PHP_VERSION_ID >= 80100 ? 0 : 1);'],
    vectors: ['php', 'check-vectors.php', vectors],
    client: ['php', 'tillgate.php'],
  },
  {
    folder: 'java',
    probe: ['javac', '--release', '17', '--version'],
    prepare: ['javac', '-d', join(home, 'java'), 'Main.java', 'Tillgate.java', 'Json.java'],
    vectors: ['java', '-cp', join(home, 'java'), 'Main', 'vectors', vectors],
    client: ['java', '-cp', join(home, 'java'), 'Main'],
  },
  {
    folder: 'go',
    probe: ['go', 'version'],
    prepare: ['go', 'build', '-o', join(home, 'go'), '.'],
    vectors: [join(home, 'go'), 'vectors', vectors],
    client: [join(home, 'go')],
  },
]

async function run(
  folder: string,
  [command, ...args]: readonly [string, ...string[]],
  input = '',
): Promise<string> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' }
  const running = promisify(execFile)(command, args, {
    cwd: join(root, 'examples', folder),
    env,
    timeout: 100_000,
  })
  running.child.stdin?.end(input)
  const { stdout } = await running.catch((error) => {
    throw new Error(`${command} ${args.join(' ')}\n${error.stdout}\n${error.stderr}`)
  })
  return stdout
}

const gateway = await startTestGateway()
const { merchantId, aesKey, privateKey } = await gateway.addMerchant()
const { keys } = (await (await fetch(`${gateway.url}/platform-keys`)).json()) as {
  keys: { publicKey: string }[]
}
const credentialsFile = join(home, 'sandbox-merchant.json')
writeFileSync(
  credentialsFile,
  JSON.stringify({
    gatewayUrl: gateway.url,
    merchantId,
    aesKey: aesKey.export().toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    platformPublicKey: keys[0]?.publicKey,
  }),
)
const vectorFile = join(home, 'vector-merchant.json')
writeFileSync(vectorFile, JSON.stringify(vectorCredentials))

for (const sample of samples) {
  const { folder, probe, prepare, client } = sample
  const [command, ...args] = probe
  const isHere = spawnSync(command, args, { stdio: 'ignore' }).status === 0
  const options = { skip: isHere ? false : `${folder} is not on this machine`, timeout: 120_000 }

  test(
    `${folder}: agrees with the test vectors, creates and queries an order, opens a callback`,
    options,
    async () => {
      if (prepare) await run(folder, prepare)
      const { requests, callbacks } = JSON.parse(readFileSync(vectors, 'utf8'))
      const told = await run(folder, sample.vectors)
      assert.equal(told.trim(), `${requests.length} requests and ${callbacks.length} callbacks are right`)

      const created = JSON.parse(await run(folder, [...client, 'create', credentialsFile, '12.50', 'USD']))
      assert.equal(created.status, 'pending')
      const queried = JSON.parse(await run(folder, [...client, 'query', credentialsFile, created.paymentId]))
      assert.deepEqual([queried.paymentId, Number(queried.paymentAmount)], [created.paymentId, 12.5])
      await assert.rejects(
        run(folder, [...client, 'query', credentialsFile, 'P01K73ZQ800JZ7V3N4Q5R6S7T8W']),
        /40400/,
      )

      const { envelope, body } = callbackVectors[0] ?? assert.fail()
      assert.equal(
        (await run(folder, [...client, 'open', vectorFile], JSON.stringify(envelope))).trim(),
        body,
      )
    },
  )
}
