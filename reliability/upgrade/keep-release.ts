// node reliability/upgrade/keep-release.ts --from v0.1.0 (or --release PATH of a checkout with its packages)
// Keeps a filled database of a release for packages/gateway/test/upgrade: a backup by the release's own command line, and
// beside it what people knew of it. To be run once for each release; the test then upgrades from it for ever.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { placeOfRelease } from '../../packages/gateway/test/support/kept-release.ts'
import { fillRelease } from './fill-release.ts'
import { openRelease } from './release.ts'

const { values } = parseArgs({ options: { from: { type: 'string' }, release: { type: 'string' } } })
const release = await openRelease({ commit: values.from, checkout: values.release })
const dataDir = await mkdtemp(join(tmpdir(), 'tillgate-keep-'))
try {
  const masterKey = randomBytes(32).toString('base64')
  const known = await fillRelease(release, { dataDir, masterKey })
  const place = placeOfRelease(release.version)
  const environment = { DATA_DIR: dataDir, MASTER_KEY: masterKey }
  await release.command(environment, 'db', 'backup', `${place}.jsonl.gz`)
  await writeFile(`${place}.json`, `${JSON.stringify(known, null, 2)}\n`)
  console.log(`${place}.jsonl.gz holds ${known.orders.length} orders.`)
} finally {
  await rm(dataDir, { recursive: true, force: true, maxRetries: 5 })
  await release.remove()
}
