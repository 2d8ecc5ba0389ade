// The manifests of ops/kubernetes against Kubernetes' own schema, and against what the gateway and its image are.
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { readConfig } from '../../src/app/settings/config.ts'
import { freePort, workFolder } from '../support/debian-postgres.ts'
import { lineWith, run } from '../support/process.ts'

const root = join(import.meta.dirname, '../../../..')

// Not among our dependencies: 26 MB for one test.
const folder = workFolder('schemas')
writeFileSync(join(folder, 'package.json'), '{"private":true}')
execFileSync(
  'npm',
  [
    'install',
    '--prefix',
    folder,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    'kubernetes-models@5.1.0',
    'yaml@2.9.1',
  ],
  { stdio: 'pipe' },
)
const require = createRequire(join(folder, 'package.json'))
// biome-ignore lint/suspicious/noExplicitAny: whatever a manifest holds
const documents: any[] = require('yaml')
  .parseAllDocuments(readFileSync(join(root, 'ops/kubernetes/tillgate.yaml'), 'utf8'))
  .map((document: { toJS(): unknown }) => document.toJS())

test('every object is one that Kubernetes takes', async () => {
  for (const document of documents) {
    const file = join(folder, 'node_modules/kubernetes-models', document.apiVersion, 'index.js')
    const { [document.kind]: Model } = await import(pathToFileURL(file).href)
    new Model(document).validate()
  }
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ['Deployment', 'Service', 'Service', 'PodDisruptionBudget', 'NetworkPolicy'],
  )
})

test('no object has a field that Kubernetes does not know', () => {
  // The schema lets unknown fields pass, and a misspelt one would do nothing; the types of the same package do not.
  const text = documents
    .map((document, at) => {
      const type = `import type { I${document.kind} as T${at} } from 'kubernetes-models/${document.apiVersion}'`
      return `${type}\nexport const object${at}: T${at} = ${JSON.stringify(document)}\n`
    })
    .join('')
  const check = (name: string, code: string) => {
    writeFileSync(join(folder, name), code)
    const options = ['--noEmit', '--skipLibCheck', '--strict', '--module', 'nodenext', '--target', 'es2022']
    return spawnSync(join(root, 'node_modules/.bin/tsc'), [...options, name], {
      cwd: folder,
      encoding: 'utf8',
    })
  }
  const { status, stdout } = check('right.ts', text)
  assert.equal(status, 0, stdout)
  assert.match(
    check('wrong.ts', text.replace('"containerPort"', '"containerPorts"')).stdout,
    /containerPorts/,
  )
})

test('nothing restarts a pod that is still bringing the database up to date, and nothing sends requests to it', async () => {
  const [container] = documents[0].spec.template.spec.containers
  const adminPort = await freePort()
  // Its database is away, which is the same from outside: it is alive, and not ready.
  const gateway = run({
    DATA_DIR: folder,
    DATABASE_URL: 'postgres://tillgate@127.0.0.1:1/tillgate',
    PORT: '0',
    ADMIN_PORT: String(adminPort),
  })
  await lineWith(gateway, 'waiting for the database')
  const statusOf = async (probe: { httpGet: { path: string } }) =>
    (await fetch(`http://127.0.0.1:${adminPort}${probe.httpGet.path}`)).status
  assert.equal(await statusOf(container.startupProbe), 200)
  assert.equal(await statusOf(container.livenessProbe), 200)
  assert.equal(await statusOf(container.readinessProbe), 503)
  gateway.child.kill('SIGTERM')
  await gateway.exited()
})

test('the rollout agrees with the way that the documentation describes', () => {
  const { strategy, progressDeadlineSeconds } = documents[0].spec
  // One after the other: no old pod stops before a new one is ready, and a long migration does not end the rollout.
  assert.deepEqual(strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 })
  assert(progressDeadlineSeconds >= 3600)
  const [, upgrade] = readFileSync(join(root, 'docs/backup.md'), 'utf8').split('## Upgrade\n')
  const manifest = readFileSync(join(root, 'ops/kubernetes/tillgate.yaml'), 'utf8')
  for (const text of [upgrade ?? '', manifest]) {
    assert.match(text, /stop first/)
    assert.match(text, /kubectl scale deployment\/tillgate --replicas=0/)
  }
})

test('the pod runs with the image’s user, ports and folders, and with settings that live takes', () => {
  const pod = documents[0].spec.template.spec
  const [container] = pod.containers
  const dockerfile = readFileSync(join(root, 'ops/Dockerfile'), 'utf8')
  const ports = container.ports.map(({ containerPort }: { containerPort: number }) => containerPort)
  assert.match(dockerfile, new RegExp(`^EXPOSE ${ports.join(' ')}$`, 'm'))
  assert.match(dockerfile, /^VOLUME \/var\/lib\/tillgate$/m)
  assert(
    container.volumeMounts.some(({ mountPath }: { mountPath: string }) => mountPath === '/var/lib/tillgate'),
  )
  assert.equal(pod.securityContext.runAsUser, 1000)
  const masterKey = join(folder, 'master-key')
  writeFileSync(masterKey, Buffer.alloc(32, 7).toString('base64'), { mode: 0o600 })
  const given = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  )
  const secret = {
    DATABASE_URL: 'postgresql://a@b/c',
    OPERATOR_PASSWORD: 'long enough for live',
    METRICS_TOKEN: 'm'.repeat(32),
  }
  const config = readConfig({ ...given, ...secret, MASTER_KEY_FILE: masterKey, DATA_DIR: folder })
  assert.equal(config.mode, 'live')
  assert(pod.terminationGracePeriodSeconds > 35)
})
