// Compiled code is kept between starts, so that the next one is quicker. What lies in that folder is run: so it is one
// of our own inside DATA_DIR, never Node's default in the temporary folder, which any user of the machine can make
// first. Plain JavaScript, because it comes before everything that is compiled.
import { lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs'
import module from 'node:module'
import { join } from 'node:path'
import util from 'node:util'

/** With `isMakingDataDir` the very first start keeps its code too. */
export function keepCompiledCode({ isMakingDataDir }) {
  const folder = privateFolder(isMakingDataDir)
  if (folder !== undefined) module.enableCompileCache(folder)
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
function isOurs(path, { forbidden }) {
  const found = lstatSync(path)
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & forbidden) === 0
}
