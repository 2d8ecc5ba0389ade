// The table of docs/notices.md, made from the declaration of kinds.
import { kindOf, type NoticeKind, noticeKinds } from '../../packages/gateway/src/core/emails/rules/kinds.ts'
import { type Tables, table } from '../../packages/protocol/documentation/tables.ts'

const hears = {
  person: 'the person',
  merchant: 'the merchant’s contacts',
  operators: 'operators',
} as const

export const noticeTables: Tables = {
  'notice kinds': () =>
    table(
      ['Kind', 'Tells that', 'Who hears it', 'Can be switched off'],
      // Safe: these are its own keys.
      (Object.keys(noticeKinds) as NoticeKind[]).map((kind) => {
        const { tells, audience, isOptional } = kindOf(kind)
        return [`\`${kind}\``, tells, hears[audience], isOptional ? 'yes' : 'no']
      }),
    ),
}
