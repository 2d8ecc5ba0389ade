// Runs the checks of store/ledger-checks.ts, one run at a time, and formats the result.
import { Failure } from '@tillgate/protocol'
import type { Verification } from './store/ledger-checks.ts'

/** A run may hold a connection for minutes, so concurrent runs would leave none for payments. */
export function makeVerifyLedger(verify: () => Promise<Verification>): () => Promise<Verification> {
  let isUnderWay = false
  return async () => {
    if (isUnderWay)
      throw new Failure('too_many_requests', {
        retryAfterSeconds: 10,
        message: 'The ledger is being verified already. Try again when that is over.',
      })
    isUnderWay = true
    try {
      return await verify()
    } finally {
      isUnderWay = false
    }
  }
}

export function describeVerification({ claims, accounts, transfers, findings }: Verification): string[] {
  const looked = `${accounts} accounts, ${transfers} transfers, ${claims} claims`
  if (findings.length === 0) return [`The ledger is clean: ${looked}.`]
  return [
    `The ledger is NOT clean: ${looked}, ${findings.length} of them untrue.`,
    ...findings.flatMap(({ claim, count, examples }) => [
      '',
      `It is not so that ${claim}: ${count} times, for example`,
      ...examples.map((example) => `  ${example}`),
    ]),
  ]
}
