// Compiled code is kept between starts, so that the next one is quicker. What lies in that folder is run: so it is one
// of our own inside DATA_DIR, never Node's default in the temporary folder, which any user of the machine can make
// first. The scripts of package.json empty NODE_COMPILE_CACHE for the same reason: Node would run what lies there before
// it runs this. Plain JavaScript, because it comes before everything that is compiled.
import { lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import module from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import util from 'node:util'

/** With `isMakingDataDir` the very first start keeps its code too. */
export function keepCompiledCode({ isMakingDataDir }) {
  const folder = privateFolder(isMakingDataDir)
  if (folder !== undefined) module.enableCompileCache(folder)
}

/**
 * npm keeps its own compiled code in the temporary folder (npm 11 on Node 22 or newer calls enableCompileCache without a
 * folder), and runs it before any file of ours: that can be told, not prevented. Undefined: no other user can write there.
 */
export function warningOfNpm() {
  const { npm_execpath: npm, NODE_DISABLE_COMPILE_CACHE: isDisabled } = process.env
  if (!npm || isDisabled) return undefined
  const folder = join(tmpdir(), 'node-compile-cache')
  try {
    if (isOurs(folder, { forbidden: 0o022, owners: [process.getuid?.(), 0] })) return undefined
  } catch {
    return undefined
  }
  return `Warning: npm runs compiled code from ${folder}, and another user of this machine can write to that folder. Run Tillgate without npm (see "Run it" in README.md).\n`
}

/** Undefined: there is no DATA_DIR, or another user could write there. Nothing is kept then. */
function privateFolder(isMakingDataDir) {
  try {
    const given = process.env.DATA_DIR?.trim() || fromDotEnv() || './data'
    // As prepareCluster makes it: root's PostgreSQL runs as another user, who passes through.
    if (isMakingDataDir) mkdirSync(given, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
    const dataDir = realpathSync(given)
    if (!isOurs(dataDir, { forbidden: 0o022 })) return undefined
    const folder = join(dataDir, 'compile-cache')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    return isOurs(folder, { forbidden: 0o077 }) ? folder : undefined
  } catch {
    return undefined
  }
}

function fromDotEnv() {
  try {
    return util.parseEnv(readFileSync('.env', 'utf8')).DATA_DIR?.trim()
  } catch {
    // Missing, or not to be read: the settings' own reading says so a moment later.
    return undefined
  }
}

/** A folder, not a link to one, of the very user who runs this, without the forbidden rights for others. */
function isOurs(path, { forbidden, owners = [process.getuid?.()] }) {
  const found = lstatSync(path)
  return found.isDirectory() && owners.includes(found.uid) && (found.mode & forbidden) === 0
}
