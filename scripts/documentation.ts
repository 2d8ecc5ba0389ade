// Makes every generated part of the documentation anew: `node scripts/documentation.ts`. A test compares what it would
// write with what is there.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeOpenApi } from '../packages/gateway/src/adapters/admin-api/openapi.ts'
import { railTables } from '../packages/protocol/documentation/rail-tables.ts'
import { fillTables } from '../packages/protocol/documentation/tables.ts'
import { apiPages } from './documentation/api.ts'
import { benchmarkPicture, benchmarkTables } from './documentation/benchmark.ts'
import { brunoRequests } from './documentation/bruno.ts'
import { goCodes, javaCodes, phpCodes, pythonCodes } from './documentation/client-codes.ts'
import { commandLinePage } from './documentation/command-line.ts'
import { databaseTables } from './documentation/database-drawing.ts'
import { effectTables } from './documentation/effects.ts'
import { emailTables } from './documentation/emails.ts'
import { errorsPage } from './documentation/errors.ts'
import { makeMerchantOpenApi } from './documentation/merchant-openapi.ts'
import { sdkTypes } from './documentation/sdk-types.ts'
import { callbackSequence, paymentSequence, railSequence } from './documentation/sequence-diagram.ts'
import { orderStates, refundStates } from './documentation/state-diagram.ts'

const root = join(import.meta.dirname, '..')

/** By path from the root of the repository. */
export const generated: Readonly<Record<string, () => string>> = {
  'SECURITY.md': () => fillTables(page('SECURITY.md'), effectTables),
  'docs/protocol.md': () => fillTables(page('docs/protocol.md')),
  'docs/rails.md': () => fillTables(page('docs/rails.md'), railTables),
  'docs/email.md': () => fillTables(page('docs/email.md'), emailTables),
  'docs/performance.md': () => fillTables(page('docs/performance.md'), benchmarkTables),
  ...apiPages,
  'docs/errors.md': errorsPage,
  'docs/command-line.md': commandLinePage,
  'docs/openapi.json': () => `${JSON.stringify(makeOpenApi(), null, 2)}\n`,
  'docs/openapi-merchant.json': () => `${JSON.stringify(makeMerchantOpenApi(), null, 2)}\n`,
  ...brunoRequests,
  'packages/sdk/types/index.d.ts': sdkTypes,
  'clients/python/src/tillgate/codes.py': pythonCodes,
  'clients/php/src/Codes.php': phpCodes,
  'clients/go/codes.go': goCodes,
  'clients/java/src/tillgate/Codes.java': javaCodes,
  'docs/images/database-tables.svg': databaseTables,
  'docs/images/order-states.svg': orderStates,
  'docs/images/refund-states.svg': refundStates,
  'docs/images/payment-sequence.svg': paymentSequence,
  'docs/images/callback-sequence.svg': callbackSequence,
  'docs/images/rail-sequence.svg': railSequence,
  'docs/images/benchmark.svg': benchmarkPicture,
}

function page(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

if (import.meta.main) {
  for (const [path, make] of Object.entries(generated)) writeFileSync(join(root, path), make())
}
