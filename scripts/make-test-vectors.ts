// Writes docs/test-vectors.json anew from the keys that are already in it, and docs/rail-test-vectors.json:
// `node scripts/make-test-vectors.ts`. Tests compare the files with what this makes, so run it after every change of the
// wire.
import { existsSync, writeFileSync } from 'node:fs'
import { makeRailVectors, railVectorsPath } from '../packages/protocol/test/rail-vectors.ts'
import { makeVectorKeys, readVectorKeys, vectorsPath } from '../packages/protocol/test/vector-keys.ts'
import { makeVectors } from '../packages/protocol/test/vectors.ts'

const keys = existsSync(vectorsPath) ? readVectorKeys() : makeVectorKeys()
write(vectorsPath, await makeVectors(keys))
write(railVectorsPath, makeRailVectors())

function write(path: URL, vectors: object): void {
  writeFileSync(path, `${JSON.stringify(vectors, null, 2)}\n`)
  console.log(`wrote ${path.pathname}`)
}
