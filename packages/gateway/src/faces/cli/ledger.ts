// tillgate ledger verify: proves that the books balance, on a live system, without stopping anybody.
import { Command } from 'commander'
import { describeVerification } from '../../ledger/verify-ledger.ts'
import { type OutputOptions, print, type WithContext } from './context.ts'

export function ledgerCommand(withContext: WithContext): Command {
  const command = new Command('ledger').description('prove that the books balance')
  command
    .command('verify')
    .description('recompute every account from its transfers and compare; exit code 1 when anything differs')
    .option('--json', 'print JSON')
    .action((options: OutputOptions) =>
      withContext(async ({ service }) => {
        const verification = await service.verifyLedger()
        print(options, verification, describeVerification(verification))
        if (verification.findings.length > 0) process.exitCode = 1
      }),
    )
  return command
}
