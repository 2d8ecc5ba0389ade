// The version of this program and the commit that it was made from. A package names both. In a clone the commit is read
// from the files of git, because no start should wait for another program.
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

const read = (...path: string[]) => readFileSync(join(...path), 'utf8').trim()
const gateway = join(import.meta.dirname, '../../..')

// Safe: our own package.json has a version.
export const { version, commit = commitOfClone(join(gateway, '../..')) } = JSON.parse(
  read(gateway, 'package.json'),
) as { version: string; commit?: string }

/** For people: `1.0.0 (1a2b3c4d)`. */
export const build = commit === undefined ? version : `${version} (${commit})`

/** Undefined where there is no repository, or one of another format. */
export function commitOfClone(root: string): string | undefined {
  try {
    const own = join(root, '.git')
    // A worktree has a file that names its folder, and shares its branches with the clone.
    const folder = statSync(own).isFile() ? resolve(root, read(own).replace('gitdir: ', '')) : own
    const shared = existsSync(join(folder, 'commondir')) ? resolve(folder, read(folder, 'commondir')) : folder
    const head = read(folder, 'HEAD')
    const branch = head.startsWith('ref: ') ? head.slice('ref: '.length) : undefined
    return hashOf(branch, { head, shared })?.slice(0, 8)
  } catch {
    return undefined
  }
}

function hashOf(
  branch: string | undefined,
  { head, shared }: { readonly head: string; readonly shared: string },
): string | undefined {
  if (branch === undefined) return head
  if (existsSync(join(shared, branch))) return read(shared, branch)
  const packed = read(shared, 'packed-refs').split('\n')
  return packed.find((line) => line.endsWith(` ${branch}`))
}
