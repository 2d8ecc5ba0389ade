// A copy of the tree, in which code may be broken on purpose: what is installed is shared with it, and its links to our
// own packages lead to its own code.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

const leftOut = ['node_modules', '.git', 'data']
const ownScope = '@tillgate'

/** Gone again when the work is done, however it ends. */
export async function inTreeCopy<Result>(work: (tree: string) => Promise<Result>): Promise<Result> {
  const tree = mkdtempSync(join(tmpdir(), 'tillgate-copy-'))
  try {
    copyTo(tree)
    return await work(tree)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

function copyTo(tree: string): void {
  for (const part of readdirSync(root).filter((each) => !leftOut.includes(each)))
    cpSync(join(root, part), join(tree, part), {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules',
    })
  const modules = join(root, 'node_modules')
  mkdirSync(join(tree, 'node_modules'))
  for (const name of readdirSync(modules).filter((each) => each !== ownScope))
    symlinkSync(join(modules, name), join(tree, 'node_modules', name))
  // Ours are links relative to the tree: copied as they are, they lead to the copy's own code.
  cpSync(join(modules, ownScope), join(tree, 'node_modules', ownScope), {
    recursive: true,
    verbatimSymlinks: true,
  })
}
