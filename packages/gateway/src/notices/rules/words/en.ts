// Notices in English, and those for operators, which have no other language.
import type { OperatorKind } from '../kinds.ts'
import type { NoticeText, NoticeWords } from './words.ts'

export const en: NoticeWords = {
  frame: {
    unsubscribe: 'Stop messages like this one',
    automatic: 'This message was sent automatically; replies are not read.',
  },
  'member-invitation': {
    subject: 'Your invitation to {merchant}',
    body: [
      '{inviter} invites you to work on the account of {merchant}.',
      'Choose a password to accept. The link works once, until {until}.',
      'If you do not expect this, do nothing: without the link nobody gets in.',
    ],
    link: 'Accept the invitation',
  },
  'member-recovery': {
    subject: 'Set a new password',
    body: [
      'Somebody, most likely you, asked for a new password for this address.',
      'The link works once, until {until}. Your password stays as it is until you set another.',
      'If it was not you, do nothing.',
    ],
    link: 'Set a new password',
  },
}

export const enForOperators: Readonly<Record<OperatorKind, NoticeText>> = {
  'approval-waiting': {
    subject: 'Waiting for approval: {act}',
    body: [
      '{requestedBy} asks for a second operator’s approval: {act}.',
      'Reason given: {reason}',
      'The request expires at {until}. Decide about it under Approvals in the console.',
    ],
  },
}
