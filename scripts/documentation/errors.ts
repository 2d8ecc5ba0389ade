// docs/errors.md: every error code that a merchant can receive, with its cause, its fix and an example.
import { type FailureName, failures, httpStatusOf } from '../../packages/protocol/src/codes.ts'

type MerchantFailure = {
  [Name in FailureName]: (typeof failures)[Name] extends { isAdminOnly: true } ? never : Name
}[FailureName]

interface Help {
  /** Only where it says more than the meaning of the code. */
  readonly cause?: string
  readonly fix: string
  readonly example: string
}

const help: Readonly<Record<MerchantFailure, Help>> = {
  malformed_envelope: {
    cause:
      'The envelope is not a JSON object, or one of its fields is missing, unknown, repeated or malformed.',
    fix: 'Compare the envelope with [the field table](protocol.md#4-the-envelope-of-a-request). `data.field` names the field.',
    example: '`"format": "JSON"` → `"format": "json"`',
  },
  invalid_field: {
    fix: 'Correct the field that `data.field` names; `msg` states what it must be.',
    example: '`"currency": "eur"` → `"currency": "EUR"`',
  },
  amount_does_not_fit_currency: {
    cause: 'Usually a sum that was computed in floating point, or minor units of another currency.',
    fix: 'Round before you send; the gateway never rounds. See [Amounts](protocol.md#10-amounts).',
    example: '`"paymentAmount": "1200.5"` in JPY → `"1200"`',
  },
  amounts_do_not_add_up: {
    cause: '`orderAmount` or `totalTax` differs from the sum over the goods. `msg` contains both amounts.',
    fix: 'Compute totals in minor units or decimals, not in floating point.',
    example: 'Two goods at `12.50` with `"orderAmount": 24.99` → `25.00`',
  },
  times_out_of_range: {
    cause:
      '`paymentTime` is more than 5 minutes ahead, or `paymentExpiryTime` is too close, too far or in the past.',
    fix: 'Send `paymentExpiryTime` 5 minutes to 24 hours after `paymentTime`, in milliseconds. For a bill, send a day that is over.',
    example: 'Payment in three days → create the order when the consumer checks out, or use a payment link',
  },
  url_not_allowed: {
    cause:
      '`callbackUrl`, `redirectUrl` or `cancelUrl` has a scheme, port or host that the gateway does not accept, or the host is not on your list of callback hosts.',
    fix: 'In live mode, use `https` on port 443 and a public host for `callbackUrl`.',
    example: '`http://10.0.0.5:3000/callbacks` → `https://shop.example/callbacks`',
  },
  timestamp_outside_window: {
    fix: 'Synchronize your clock with NTP, and make a new timestamp for each attempt. The SDK corrects itself once from the `Date` header.',
    example: 'A request that was signed at 12:00 and sent at 12:06 → sign it again',
  },
  envelope_not_opened: {
    cause:
      'The merchantId is unknown, the AES key or RSA key does not match, the wrong string was signed, or the plain body is not UTF-8. The response is the same in every case, so that it reveals nothing.',
    fix: 'Run `till debug-signature request.json --body body.json`, which names the mistake. Without the SDK: `npx -p http://localhost:8080/sdk/tillgate-sdk.tgz till debug-signature …`. Then compare your string to sign with the [test vectors](protocol.md#17-checking-your-client).',
    example:
      'The body was serialized twice, with different spaces → serialize it once, then sign and encrypt that text',
  },
  merchant_suspended: {
    fix: 'Ask the operator. Orders and refunds that were accepted continue.',
    example: 'Every request returns 40300 until the operator resumes the merchant',
  },
  callback_address_changed_too_often: {
    cause:
      'You used more than 20 callback hosts in 24 hours. A host with another port counts as another host.',
    fix: 'Use one fixed `callbackUrl`. Ask the operator to change the limit or the list.',
    example: '`https://{orderNo}.shop.example/` → `https://shop.example/callbacks`',
  },
  order_not_found: {
    cause: 'The order, refund, callback or link does not exist or belongs to another merchant.',
    fix: 'Check the number, the merchantId, and whether you use sandbox credentials with a live gateway.',
    example: 'Your `orderNo` in the field `paymentId` → send the `paymentId` that `msg` names',
  },
  no_such_operation: {
    fix: 'Copy the path from the operation’s page, or send every method to `/api/v1/gateway`.',
    example: '`/payment/api/v1/payment-orders` → `/payment/api/v1/payment-order`',
  },
  wrong_verb: {
    fix: 'Send `POST`. The `Allow` header lists what the path accepts.',
    example: '`GET /payment/api/v1/payment-order/query` → `POST`',
  },
  number_already_used: {
    fix: 'To retry, send exactly the stored content, including `paymentTime`. For something new, use a new number. `data.field` names the first difference.',
    example: 'A retry of `A-1001` with a new `paymentTime` → repeat the stored `paymentTime`',
  },
  status_does_not_allow: {
    fix: 'Query the order. Refund a paid order instead of canceling it; wait while it is `confirming`.',
    example: 'Cancel of a `success` order → refund it',
  },
  more_than_left_to_refund: {
    fix: 'Query the order and refund at most `payAmount` less the refunds that did not fail.',
    example: '`12.50` paid, `10.00` refunded: `5.00` → `2.50`',
  },
  more_than_left_to_capture: {
    fix: 'Query the order and capture at most `authorization.remainingAmount`.',
    example: '`25.00` authorized, `20.00` captured: `10.00` → `5.00`',
  },
  code_not_accepted: {
    cause: 'A code pays once, within 60 seconds, and ends when the wallet signs out.',
    fix: 'Ask the consumer for the code that the wallet shows now.',
    example: '`4015 2210 9933 8457`, a minute later: the new digits',
  },
  too_large: {
    cause: 'The request is larger than 256 KiB, or its headers are larger than 16 KiB.',
    fix: 'Shorten descriptions, or send fewer goods.',
    example: '100 goods with long descriptions → summarize them',
  },
  not_json: {
    fix: 'Send `Content-Type: application/json`.',
    example: '`application/x-www-form-urlencoded` → `application/json`',
  },
  too_many_requests: {
    fix: 'Wait for the seconds in `Retry-After`, then repeat the request. Ask the operator for a higher rate if this is normal traffic.',
    example: '`Retry-After: 1` → repeat after one second',
  },
  internal: {
    cause: 'The gateway failed unexpectedly. The operation may or may not have happened.',
    fix: 'Repeat the same request: it is idempotent. If the error persists, send the `requestId` to the operator.',
    example: 'The same `orderNo` and content → returns the order if it was stored',
  },
  unavailable: {
    cause: 'The gateway is starting, stopping, overloaded or without its database.',
    fix: 'Wait for the seconds in `Retry-After`, then repeat the request.',
    example: '`Retry-After: 2` → repeat after two seconds',
  },
}

export function errorsPage(): string {
  return [
    '# Errors',
    '',
    'A rejected request returns `{code, msg, data}` with the HTTP status in the first three digits of the code.',
    '',
    '```json',
    JSON.stringify(
      {
        code: 40001,
        msg: 'currency must be three capital letters, an ISO 4217 code, but was "eur".',
        data: { field: 'currency', requestId: 'q3JvY2sgYW5kIHJv' },
      },
      undefined,
      2,
    ),
    '```',
    '',
    'Decide by `code` and `data.field`; the words in `msg` may change. Give the operator the `requestId` when you ask for help. In the sandbox, `till logs REQUEST_ID` shows the rejected request.',
    '',
    ...Object.entries(help).flatMap(([name, { cause, fix, example }]) => {
      // Safe: these are names of the catalog.
      const { code, meaning } = failures[name as MerchantFailure]
      return [
        `## ${code}`,
        '',
        `**${meaning.split(/(?<=[.:]) /)[0]?.replace(/[.:]$/, '')}.** HTTP ${httpStatusOf(code)}.`,
        '',
        ...(cause === undefined ? [] : [`- **Cause**: ${cause}`]),
        `- **Fix**: ${fix}`,
        `- **Example**: ${example}`,
        '',
      ]
    }),
  ]
    .join('\n')
    .replace('\n```json', '\n<!-- run: json -->\n```json')
}
