// tillgate master-key …: shows which master key seals the secrets, and reseals them under the new one.
import { Command } from 'commander'
import { type OutputOptions, print, stopIfAsked, type Terminal, table, type WithContext } from './context.ts'

const roles = { seals: 'seals and opens', opens: 'opens', unknown: 'not known here' } as const

export function masterKeyCommand(withContext: WithContext, terminal: Terminal): Command {
  const command = new Command('master-key').description('replace the key under which secrets rest')

  command
    .command('status')
    .description('how many secrets rest under which master key; keys are named by an id that tells nothing')
    .option('--json', 'print JSON')
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
    .description('put every secret under the first key of MASTER_KEY; gateways go on serving meanwhile')
    .requiredOption('--reason <text>', 'why, for the audit')
    .option('--json', 'print JSON')
    .action((options: OutputOptions & { reason: string }) =>
      withContext(async ({ operations, context, signal }) => {
        const { resealed, unknown } = await operations.masterKey.rotate(context, {
          reason: options.reason,
          onBatch: (done) =>
            stopIfAsked(
              signal,
              `${done} secrets are under the new key, others may not be: run it again, and leave both keys in MASTER_KEY until then.`,
            ),
        })
        const lines = [
          resealed === 0
            ? 'Nothing was under another key.'
            : `${resealed} secrets are under the new key now.`,
          ...(unknown === 0
            ? []
            : [`${unknown} ended ones are under a key that is not given; they stay as they are.`]),
          'Once every gateway knows the new key, the old one can be left out of MASTER_KEY.',
        ]
        print(terminal, options, { value: { resealed, unknown }, lines })
      }),
    )
  return command
}
