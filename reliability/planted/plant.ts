// Puts a planted bug into source text. A place is named by the function that it is in, wherever that is declared, and by
// what the code there says, however it is laid out: moving a file and formatting it leave every bug plantable. A place
// that is found nowhere or twice is an error, so that no bug is lost without a word.
import assert from 'node:assert/strict'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Place {
  /** The name of a function of the gateway, or `migrations` for the tables. */
  readonly in: string
  /** Stands there once. White space counts for nothing. */
  readonly find: string
  readonly replace: string
}

export interface Bug {
  /** What it does wrong. */
  readonly what: string
  /** Who must catch it: the simulation, or a test file of the gateway by its name. */
  readonly caughtBy: 'simulation' | `${string}.test.ts`
  readonly places: readonly Place[]
}

/** Texts by their paths in the tree. */
export type Sources = ReadonlyMap<string, string>

const gateway = 'packages/gateway'

export function readSources(tree: string): Sources {
  const paths = globSync([`${gateway}/src/**/*.ts`, `${gateway}/migrations/*.sql`], { cwd: tree })
  const ours = paths.filter((path) => !path.endsWith('.test.ts'))
  return new Map(ours.map((path) => [path, readFileSync(join(tree, path), 'utf8')]))
}

/** The files that differ with the bug in them. */
export function plant(sources: Sources, { places }: Bug): Sources {
  const changed = new Map<string, string>()
  for (const place of places) {
    const [path, text] = replaceIn(new Map([...sources, ...changed]), place)
    changed.set(path, text)
  }
  return changed
}

export function writeSources(tree: string, sources: Sources): void {
  for (const [path, text] of sources) writeFileSync(join(tree, path), text)
}

function replaceIn(sources: Sources, place: Place): [path: string, text: string] {
  const pattern = new RegExp(looselyWritten(place.find), 'g')
  const hits = stretchesOf(sources, place.in).flatMap(({ path, stretch }) =>
    [...stretch.matchAll(pattern)].map(({ 0: found }) => {
      const broken = stretch.replace(found, () => place.replace)
      return { path, text: sources.get(path)?.replace(stretch, () => broken) ?? '' }
    }),
  )
  const [hit] = hits
  assert(
    hit && hits.length === 1,
    `${place.in} says this ${hits.length} times instead of once: ${place.find}`,
  )
  return [hit.path, hit.text]
}

function stretchesOf(sources: Sources, name: string): { path: string; stretch: string }[] {
  if (name === 'migrations')
    return [...sources].flatMap(([path, stretch]) => (path.endsWith('.sql') ? { path, stretch } : []))
  // The formatter ends what is declared at the top of a file with a brace at the left edge.
  const pattern = new RegExp(`^(?:export )?(?:async )?function ${name}\\b.*?^}`, 'gms')
  const functions = [...sources].flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map(([stretch]) => ({ path, stretch })),
  )
  assert.equal(functions.length, 1, `${functions.length} functions are called ${name} instead of one`)
  return functions
}

/** As a regular expression: words are parted by white space, and elsewhere there may be some. */
function looselyWritten(code: string): string {
  return (code.match(/\w+|\S/g) ?? [])
    .map((token) => token.replace(/\W/, '\\$&'))
    .join('\\s*')
    .replaceAll(/(\w)\\s\*(?=\w)/g, '$1\\s+')
}
