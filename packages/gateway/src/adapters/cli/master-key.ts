// tillgate master-key …: shows which master key seals the secrets, and reseals them under the new one.
import { Command } from 'commander'
import { type OutputOptions, print, stopIfAsked, type Terminal, table, type WithContext } from './context.ts'

const roles = { seals: 'seals and opens', opens: 'opens', unknown: 'unknown' } as const

export function masterKeyCommand(withContext: WithContext, terminal: Terminal): Command {
  const command = new Command('master-key').description('replace the master key, which seals all secrets')

  command
    .command('status')
    .description('count the secrets under each master key; keys are shown by an id that reveals nothing')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions) =>
      withContext(async ({ operations, context }) => {
        const status = (await operations.masterKey.status(context)).map((each) => ({
          ...each,
          masterKeyId: each.masterKeyId.toString('hex'),
        }))
        const rows = status.map(({ masterKeyId, role, live, ended }) => [
          masterKeyId,
          roles[role],
          String(live),
          String(ended),
        ])
        const lines = table(['master key', 'in this configuration', 'secrets in use', 'ended'], rows)
        print(terminal, options, { value: status, lines })
      }),
    )

  command
    .command('rotate')
    .description('reseal every secret under the first key of MASTER_KEY; gateways keep running')
    .requiredOption('--reason <text>', 'the reason, for the audit log')
    .option('--json', 'Print JSON')
    .action((options: OutputOptions & { reason: string }) =>
      withContext(async ({ operations, context, signal }) => {
        const { resealed, unknown } = await operations.masterKey.rotate(context, {
          reason: options.reason,
          onBatch: (done) =>
            stopIfAsked(
              signal,
              `${done} secrets were re-encrypted, others may not be. Run the command again, and keep both keys in MASTER_KEY until then.`,
            ),
        })
        const lines = [
          resealed === 0
            ? 'No secret needed re-encryption.'
            : `${resealed} secrets were re-encrypted under the new key.`,
          ...(unknown === 0
            ? []
            : [
                `${unknown} secrets that are no longer used are encrypted with an unknown key. They were not changed.`,
              ]),
          'When every gateway has the new key, you can remove the old one from MASTER_KEY.',
        ]
        print(terminal, options, { value: { resealed, unknown }, lines })
      }),
    )
  return command
}
