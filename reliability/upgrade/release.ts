// Another release of Tillgate beside this one: its code from the repository's history with the packages of its own lock
// file, and its command line.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '../support/tree-copy.ts'

const run = promisify(execFile)

interface Added {
  readonly merchantId: string
  readonly aesKey: string
}

export interface Release {
  readonly tree: string
  readonly version: string
  /** What the command line prints as JSON. */
  command(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<unknown>
  addMerchant(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Added>
  remove(): Promise<void>
}

/** From a commit or tag of this repository, or from a checkout that has its packages already. */
export async function openRelease(from: {
  readonly commit?: string | undefined
  readonly checkout?: string | undefined
}): Promise<Release> {
  const tree = from.checkout ?? (await checkOut(from.commit ?? ''))
  const { version } = JSON.parse(await readFile(join(tree, 'packages/gateway/package.json'), 'utf8'))
  const command: Release['command'] = async (environment, ...args) => {
    const script = join(tree, 'packages/gateway/tillgate.js')
    const { stdout } = await run(process.execPath, [script, ...args, '--json'], {
      cwd: tmpdir(),
      env: { PATH: process.env['PATH'], ...environment },
    })
    return JSON.parse(stdout)
  }
  return {
    tree,
    version,
    command,
    async addMerchant(environment, ...args) {
      const added = (await command(environment, 'merchant', 'add', ...args)) as Added & { merchant?: Added }
      // 0.1.0 printed the merchant beside its key, later ones within.
      return { merchantId: (added.merchant ?? added).merchantId, aesKey: added.aesKey }
    },
    async remove() {
      if (!from.checkout) await rm(tree, { recursive: true, force: true })
    },
  }
}

async function checkOut(commit: string): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'tillgate-release-'))
  await run('git', ['clone', '--quiet', '--shared', '--no-checkout', root, tree])
  await run('git', ['-C', tree, 'checkout', '--quiet', '--detach', commit])
  await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: tree })
  return tree
}
