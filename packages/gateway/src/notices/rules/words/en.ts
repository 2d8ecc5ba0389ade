// Notices in English, and those for operators, which have no other language.
import type { OperatorKind } from '../../rules/kinds.ts'
import type { NoticeText, NoticeWords } from './words.ts'

export const en: NoticeWords = {
  frame: {
    unsubscribe: 'Stop messages like this one',
    automatic: 'This message was sent automatically; replies are not read.',
    unsubscribed: 'You will not get messages like this one any more.',
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
  'application-question': {
    subject: 'Your application: {business}',
    body: [
      'We have a question about the application of {business}: {question}',
      'Please answer on the page of your application, whose address you kept.',
    ],
  },
  'application-rejected': {
    subject: 'Your application: {business}',
    body: [
      'The application of {business} was rejected: {reason}',
      'You may apply again when this has changed.',
    ],
  },
  'key-added': {
    subject: 'A key was added for {merchant}',
    body: [
      'A new key was added to the account of {merchant} at {time}: {key}.',
      'Whoever holds the private half, or the secret key, can act for {merchant}. If you did not ask for it, tell the people who run this service at once.',
    ],
  },
  'bank-account-changed': {
    subject: 'Payouts of {merchant} go to another bank account',
    body: [
      'From {time} on, payouts of {merchant} in {currency} go to this bank account: {account}.',
      'Until then the account before is paid to. If you did not ask for it, tell the people who run this service at once: they can still stop it.',
    ],
  },
  'payout-paid': {
    subject: 'A payout to {merchant}: {amount}',
    body: [
      'The bank has paid the payout {payoutId} of {amount} to the account of {merchant}.',
      'It is in your statement, and on your bank’s within a day or two.',
    ],
  },
  'payout-returned': {
    subject: 'A payout to {merchant} came back',
    body: [
      'The bank sent the payout {payoutId} of {amount} back: {reason}.',
      'The money is in the wallet of {merchant} again. Please check the bank account that payouts go to.',
    ],
  },
  'callback-host-failing': {
    subject: 'Callbacks do not reach {host}',
    body: [
      'Callbacks of {merchant} to {host} have failed since {since}. The last answer: {reason}.',
      'Nothing is lost: they are tried again for seven days. Please look whether {host} is up and answers HTTP 200.',
    ],
  },
  'callbacks-exhausted': {
    subject: 'A callback was given up',
    body: [
      'The callback {event} of payment {paymentId} could not be delivered to {host} in seven days, and is not tried again by itself.',
      'Others of {merchant} may have ended in the same way: this is told once a day. Query your orders for their status; the callbacks can be sent again on request.',
    ],
  },
  'registration-code': {
    subject: 'Your code for a new wallet',
    body: [
      'Somebody, most likely you, wants to open a wallet with this address.',
      'The code works once, for 15 minutes. Enter it on the page where you began.',
      'If it was not you, do nothing: without the code there is no wallet.',
    ],
    link: 'Your code',
  },
  'wallet-exists': {
    subject: 'You already have a wallet',
    body: [
      'Somebody, most likely you, wanted to open a wallet with this address. There is one already, and nothing was changed.',
      'Sign in with this address and your PIN. If you have forgotten the PIN, ask for a code on the sign-in page.',
    ],
  },
  'pin-code': {
    subject: 'Your code for a new PIN',
    body: [
      'Somebody, most likely you, asked for a new PIN for your wallet.',
      'The code works once, for 15 minutes. Your PIN stays as it is until you set another. We never ask for this code by phone or mail.',
      'If it was not you, do nothing.',
    ],
    link: 'Your code',
  },
  'pin-changed': {
    subject: 'Your PIN was changed',
    body: [
      'The PIN of your wallet was changed, and everybody else was signed out.',
      'If it was not you, ask the people who run your wallet to lock it at once.',
    ],
  },
  'new-device': {
    subject: 'New sign-in to your wallet',
    body: [
      'Somebody, most likely you, signed in to your wallet at {time} on a device that we do not know: {device}.',
      'If it was not you, change your PIN at once and sign out everywhere under Settings, or ask the people who run your wallet to lock it.',
    ],
  },
  'refund-arrived': {
    subject: 'Refund from {merchant}: {amount}',
    body: [
      '{merchant} has refunded {amount} to you. The money is in your wallet.',
      'Order number: {orderNo}',
    ],
  },
  'withdrawal-returned': {
    subject: 'Your withdrawal of {amount} came back',
    body: [
      'Your withdrawal of {amount} was not paid out: {reason}',
      'The money is in your wallet again. Please check the bank account before you try once more.',
    ],
  },
  receipt: {
    subject: 'Your payment to {merchant}: {amount}',
    body: [
      'You have paid {amount} to {merchant} on {time}.',
      'Order number: {orderNo}',
      'Payment: {paymentId}',
      'You asked for this message on the payment page. Your address was used for it alone and is not kept.',
    ],
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
  'rail-alert': {
    subject: 'Money through rail {rail} needs a look',
    body: [
      'Order {paymentId}, {amount} through rail {rail}: {happened}.',
      'The order’s page in the console shows every call and what can be done.',
    ],
  },
  'breaks-found': {
    subject: 'Statements of {account} and the books do not agree',
    body: [
      'Breaks found at {account}: {count}. The largest is about {largest}.',
      'Look at them under Reconciliation in the console: each says what both sides have and what settles it.',
    ],
  },
  'rail-paused': {
    subject: 'Rail {rail} fails and is paused',
    body: [
      'Rail {rail} fails: {failure}.',
      'It has left the checkout until {until}, and then it is tried again; while it fails, the pauses grow. This is told once a day.',
    ],
  },
}
