// A merchant's members: invited, changed and removed by an owner or an operator. The admin API cannot grant access
// without a person, because the person hands over the link. A second operator may have to approve.

import { memberRoleMeanings, memberRoles } from '../../core/authority/rules/roles.ts'
import { parseEmail } from '../../core/emails/rules/email.ts'
import { maxPersonName } from '../../identity/accounts/rules/account.ts'
import type { ListedMember } from '../../identity/members/rules/member.ts'
import { type Action, defineAction, defineSharedAction, form, type PortalForm } from '../action.ts'
import { displayed, list, object, oneOf, optional, text, timeMs, yesNo } from '../fields.ts'
import { memberLink, merchantId, reason, uuid } from '../shared-fields.ts'

const key = object('Which merchant.', { merchantId })
const page = '/merchants/:merchantId'
const email = displayed(text('The member’s login.', { max: 254 }), { label: 'Email address' })
const login = text('The member’s email address.', { max: 254 })
const name = optional(
  displayed(text('The person’s name, which they can change.', { max: maxPersonName }), {
    label: 'Name (optional)',
  }),
)
const role = displayed(oneOf('The member’s role.', memberRoles), {
  choices: memberRoles.toReversed().map((each) => [each, `${each}: ${memberRoleMeanings[each]}`]),
})
const link = object('A one-time link.', {
  login,
  link: optional(memberLink),
  expiresAtMs: timeMs('Time of expiry.'),
})
const emailCheck = {
  email: ({ email: written }) => void parseEmail(String(written), 'email'),
} as const satisfies Action['checks']
const screen = { roles: ['owner'], page: '/members' } as const satisfies Partial<PortalForm>
const member = object('Which member.', { merchantId, login })

export const memberActions: readonly Action[] = [
  defineAction({
    name: 'member.list',
    scope: 'merchants:read',
    summary: 'List a merchant’s members and open invitations',
    params: key,
    answer: object('All members.', {
      members: list(
        'By email address.',
        object('A member.', {
          login,
          name,
          role,
          hasPassword: yesNo('False if the member signs in with an identity provider.'),
          hasSecondStep: yesNo('Whether the member uses two-step verification.'),
          createdAtMs: timeMs('When the member was added.'),
        }),
      ),
      invitations: list(
        'Oldest first.',
        object('An invitation.', {
          linkId: uuid('The invitation’s ID.'),
          login,
          name,
          role: optional(role),
          expiresAtMs: timeMs('When it expires.'),
        }),
      ),
    }),
    command: { columns: ['login', 'name', 'role', 'hasSecondStep', 'createdAtMs'] },
    run: ({ operations, context, params }) => operations.members.listMembers(context, params.merchantId),
  }),
  defineSharedAction({
    name: 'member.invite',
    needs: 'admin',
    summary: 'Invite a member to a merchant’s portal. The link is shown only once',
    params: key,
    input: object('The member.', { email, name, role, reason: optional(reason) }),
    checks: emailCheck,
    answer: link,
    command: { arguments: ['email'] },
    form: {
      place: 'merchant.members',
      path: `${page}/members`,
      page,
      label: 'Invite a member…',
      explains:
        'The link is generated and shown only once. Pass it to the recipient. The link is valid for three days and works once. The recipient chooses a password and gets the selected role.',
      button: 'Create link',
      needsConfirmation: true,
    },
    portal: [
      {
        ...screen,
        name: 'invite',
        path: '/members/invite',
        fields: ['email', 'name', 'role'],
        needsConfirmation: true,
      },
    ],
    async run({ operations, context, params, input: { reason: why, ...input } }) {
      const { merchants, members } = operations
      await merchants.showMerchant(context, params.merchantId)
      return members.inviteMember(context, { ...params, ...input }, why === undefined ? {} : { reason: why })
    },
    reply: (answer, { params }) => ({
      text: `${answer.login} was invited${answer.link === undefined ? ' by email' : ''}. The link works once and is valid for three days.`,
      ...(answer.link !== undefined && { secrets: [['Link', answer.link]] }),
      page: `/merchants/${params.merchantId}`,
    }),
  }),
  defineSharedAction({
    name: 'member.withdraw-invitation',
    needs: 'admin',
    summary: 'Withdraw an open invitation',
    params: object('Which invitation.', { merchantId, linkId: uuid('The invitation’s ID.') }),
    answer: object('The invitation.', { linkId: uuid('The invitation’s ID.') }),
    form: {
      place: 'invitation',
      path: `${page}/invitations/:linkId/withdraw`,
      page,
      label: 'Withdraw…',
      explains: 'The link stops working.',
      button: 'Withdraw invitation',
      isDangerous: true,
    },
    portal: [
      { ...screen, name: 'withdraw', path: '/members/invitations/:linkId/withdraw', isDangerous: true },
    ],
    async run({ operations, context, params }) {
      await operations.members.withdrawInvitation(context, params)
      return params
    },
    reply: () => ({ text: 'The invitation was withdrawn.' }),
  }),
  defineSharedAction({
    name: 'member.change-role',
    needs: 'admin',
    summary: 'Change a member’s role',
    params: member,
    input: object('The role.', { role, reason: optional(reason) }),
    answer: object('The member.', { login, role }),
    form: {
      place: 'member',
      path: `${page}/members/:login/role`,
      page,
      label: 'Change role…',
      explains: 'The new role applies when the member opens the next page.',
      button: 'Change role',
      needsConfirmation: true,
    },
    portal: [
      {
        ...screen,
        name: 'changeRole',
        path: '/members/:login/role',
        fields: ['role'],
        needsConfirmation: true,
      },
    ],
    async run({ operations, context, params, input }) {
      const { role: given, reason: why } = input
      const { members } = operations
      const key = { ...params, login: await members.demandMember(context, params) }
      await members.changeRole(context, { ...key, role: given }, why === undefined ? {} : { reason: why })
      return { login: params.login, role: given }
    },
    reply: (answer) => ({ text: `${answer.login} now has the role ${answer.role}.` }),
  }),
  defineSharedAction({
    name: 'member.remove',
    needs: 'admin',
    summary: 'Remove a member from a merchant',
    params: member,
    answer: object('The member.', { login }),
    form: {
      place: 'member',
      path: `${page}/members/:login/remove`,
      page,
      label: 'Remove…',
      explains: 'The member loses access to this merchant immediately.',
      button: 'Remove member',
      isDangerous: true,
    },
    portal: [{ ...screen, name: 'remove', path: '/members/:login/remove', isDangerous: true }],
    async run({ operations, context, params }) {
      await operations.members.removeMember(context, params)
      return params
    },
    reply: ({ login: whom }) => ({ text: `${whom} is no longer a member.` }),
  }),
  defineAction({
    name: 'member.recover',
    needs: 'admin',
    summary: 'Create a password link for a member',
    params: member,
    input: object('The reason.', { reason }),
    answer: link,
    form: {
      place: 'member',
      path: `${page}/members/:login/recover`,
      page,
      label: 'New password…',
      explains:
        'First confirm that the request comes from the member. The link is generated and shown only once. Pass it to the recipient. The link is valid for one day and works once. Two-step verification stays on.',
      button: 'Create link',
      needsConfirmation: true,
    },
    run: ({ operations, context, params, input }) =>
      operations.members.recoverAccount(context, params, input.reason),
    reply: (answer, { params }) => ({
      text: `${answer.login} can choose a new password with ${answer.link === undefined ? 'the link that was sent by email' : 'this link'}. It works once and is valid for one day.`,
      ...(answer.link !== undefined && { secrets: [['Link', answer.link]] }),
      page: `/merchants/${params.merchantId}`,
    }),
  }),
  defineAction({
    name: 'member.reset-totp',
    needs: 'admin',
    summary: 'Reset a member’s two-step verification if the app and recovery codes are lost. Ends sessions',
    params: member,
    input: object('The reason.', { reason }),
    answer: object('The member.', { login }),
    form: form<ListedMember>({
      place: 'member',
      path: `${page}/members/:login/reset-totp`,
      page,
      label: 'Reset two-step verification…',
      explains:
        'First confirm that the request comes from the member. The member is signed out everywhere and signs in with the password only, at every merchant.',
      button: 'Reset two-step verification',
      isDangerous: true,
      isOffered: ({ hasSecondStep }) => hasSecondStep,
      needsConfirmation: true,
    }),
    async run({ operations, context, params, input }) {
      const { members, memberAccounts } = operations
      await memberAccounts.secondStep.reset(
        context,
        await members.demandMember(context, params),
        input.reason,
      )
      return { login: params.login }
    },
    reply: (answer) => ({ text: `${answer.login} now signs in with the password only.` }),
  }),
]
