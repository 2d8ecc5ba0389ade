// Writes docs/test-vectors.json anew from the keys that are already in it: `node scripts/make-test-vectors.ts`.
// A test compares the file with what this makes, so run it after every change of the wire.
import { existsSync, writeFileSync } from 'node:fs'
import { makeVectorKeys, readVectorKeys, vectorsPath } from '../packages/protocol/test/vector-keys.ts'
import { makeVectors } from '../packages/protocol/test/vectors.ts'

const keys = existsSync(vectorsPath) ? readVectorKeys() : makeVectorKeys()
const vectors = await makeVectors(keys)
writeFileSync(vectorsPath, `${JSON.stringify(vectors, null, 2)}\n`)
console.log(`wrote ${vectorsPath.pathname}`)
