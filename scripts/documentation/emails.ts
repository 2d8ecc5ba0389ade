// The table of docs/email.md, made from the declaration of kinds.
import { type EmailKind, emailKinds, kindOf } from '../../packages/gateway/src/core/emails/rules/kinds.ts'
import { type Tables, table } from '../../packages/protocol/documentation/tables.ts'

const recipients = {
  person: 'the person',
  merchant: 'the merchant’s contacts',
  operators: 'operators',
} as const

export const emailTables: Tables = {
  'email kinds': () =>
    table(
      ['Kind', 'Sent when', 'Recipient', 'Optional'],
      // Safe: these are its own keys.
      (Object.keys(emailKinds) as EmailKind[]).map((kind) => {
        const { sentWhen, audience, isOptional } = kindOf(kind)
        return [`\`${kind}\``, sentWhen, recipients[audience], isOptional ? 'yes' : 'no']
      }),
    ),
}
