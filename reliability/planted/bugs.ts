// The planted bugs: each is a mistake that somebody could make, where it is made, and who must notice.
import type { Bug } from './plant.ts'

const refundSumUnchecked = {
  in: 'checkRefundable',
  find: 'if (amountMinor <= leftMinor) return',
  replace: 'if (amountMinor > 0n) return',
}

export const bugs: Readonly<Record<string, Bug>> = {
  'access-that-ended-still-acts': {
    what: 'Whoever was disabled a moment ago still replaces the gateway’s own keys.',
    caughtBy: 'one-person.test.ts',
    places: [
      {
        in: 'resendEntry',
        find: "makeAuditEntry(parts, context, 'callback.resend'",
        replace: "makeAuditEntry(parts, { actor: context.actor }, 'callback.resend'",
      },
    ],
  },
  'approval-by-whoever-had-the-role': {
    what: 'A second operator whose role was lowered a moment ago still approves.',
    caughtBy: 'one-person.test.ts',
    places: [
      {
        in: 'checkPeople',
        find: 'if (approval) await checkOperator(transaction, approval.decider, actedAtMs)',
        replace: 'if (approval) await Promise.resolve(checkOperator)',
      },
    ],
  },
  'bill-forgets-fees-that-came-back': {
    what: 'Fees that refunds gave back are lines of the bill and in none of its totals.',
    caughtBy: 'bills.test.ts',
    places: [
      {
        in: 'startTotals',
        find: 'totals[sectionOf[kind]] += amountMinor',
        replace: "if (kind !== 'fee_return') totals[sectionOf[kind]] += amountMinor",
      },
      {
        in: 'migrations',
        find: 'check (opening_minor + late_minor + payments_minor + refunds_minor + fees_minor + payouts_minor + corrections_minor = closing_minor)',
        replace: 'check (closing_minor is not null)',
      },
    ],
  },
  'bill-made-too-early': {
    what: 'A day is billed while it still runs: what moves later that day is in no line.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'firstOpenDay',
        find: 'utcDay(nowMs - billDelayMs)',
        replace: 'utcDay(nowMs + 86_400_000 - billDelayMs)',
      },
    ],
  },
  'capture-beyond-the-authorization': {
    what: 'A capture takes more than the consumer agreed to.',
    caughtBy: 'capture-model.test.ts',
    places: [
      {
        in: 'planCapture',
        find: 'if (amountMinor > remainingMinor) throw',
        replace: 'if (amountMinor < 0n) throw',
      },
      {
        in: 'migrations',
        find: 'check (captured_minor <= coalesce(authorized_minor, 0)',
        replace: 'check (captured_minor <= 1000 * coalesce(authorized_minor, 0)',
      },
    ],
  },
  'capture-twice-by-one-number': {
    what: 'A repeated referCaptureNo captures again.',
    caughtBy: 'capture-model.test.ts',
    places: [
      {
        in: 'makeCaptureOrder',
        find: 'captures.find(({ referCaptureNo }) => referCaptureNo === asked.referCaptureNo)',
        replace: 'captures.find(({ ordinal }) => ordinal < 0)',
      },
      {
        in: 'migrations',
        find: 'primary key (merchant_id, payment_id, refer_capture_no)',
        replace: 'primary key (merchant_id, payment_id, refer_capture_no, ordinal)',
      },
    ],
  },
  'captured-after-the-authorization-expired': {
    what: 'An authorization that ended can still be captured until a job releases it.',
    caughtBy: 'capture-model.test.ts',
    places: [
      {
        in: 'planCapture',
        find: 'if (nowMs >= heldUntilMs) throw',
        replace: 'if (nowMs >= 2 * heldUntilMs) throw',
      },
      { in: 'takeCapture', find: 'capture ? changedAtMs : 0', replace: 'capture && changedAtMs < 0 ? 1 : 0' },
    ],
  },
  'rest-of-an-authorization-kept': {
    what: 'The end of an authorization leaves what was not captured held for ever.',
    caughtBy: 'capture-model.test.ts',
    places: [
      { in: 'endHeldOrder', find: 'transfers: restMinor > 0n ?', replace: 'transfers: restMinor < 0n ?' },
    ],
  },
  'rail-captures-again-after-a-lost-response': {
    what: 'A capture without a response is sent again as another capture.',
    caughtBy: 'rail-captures.test.ts',
    places: [
      {
        in: 'paymentCapture',
        find: 'captureId: captureIdOf(transactionId, ordinal)',
        replace: 'captureId: captureIdOf(transactionId, Date.now() % 36)',
      },
    ],
  },
  'rail-capture-posted-before-the-response': {
    what: 'A capture that the rail still processes is posted.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'decideCapture',
        find: "if (!planned || answer.status === 'submitted') return",
        replace: 'if (!planned) return',
      },
    ],
  },
  'rail-keeps-what-was-released': {
    what: 'A release ends the order, and the rail is not asked to release the money.',
    caughtBy: 'rail-captures.test.ts',
    places: [
      {
        in: 'questionFor',
        find: "return nowMs >= endsAtMs ? 'payment.release' : 'payment.status'",
        replace: "return nowMs >= endsAtMs + 1e12 ? 'payment.release' : 'payment.status'",
      },
    ],
  },
  'callback-not-queued': {
    what: 'The callback of a failed payment is written down and never queued.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'insertCallbacks',
        find: 'queueCallbacks(transaction, own, callbacks)',
        replace:
          "queueCallbacks(transaction, own.filter(({ eventName }) => eventName !== 'payment.order.failed'), callbacks)",
      },
    ],
  },
  'callback-outside-the-transaction': {
    what: 'The callback of a timeout is written after the commit: whoever dies in between never tells the merchant.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'makeOrderStore',
        find: 'commitAndPublish(database, publish, (transaction) => commitStatusChanges(transaction, changes, entry))',
        replace: `commitAndPublish(database, publish, (transaction) =>
          commitStatusChanges(transaction, changes.map((change) => ({ ...change, callback: undefined })), entry),
        ).then(async (won) => {
          const moved = new Set(won.map(({ paymentId }) => paymentId))
          const told = changes.filter(({ paymentId }) => moved.has(paymentId)).flatMap(({ callback }) => callback ?? [])
          await database.transaction((transaction) => insertCallbacks(transaction, told))
          return won
        })`,
      },
    ],
  },
  'callbacks-sealed-with-the-newest-key': {
    what: 'A new AES key seals callbacks at once, before the merchant can have it.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'callbackKey',
        find: "liveKeys(keys, 'aes').find(({ isChosen }) => isChosen) ?? keyInUse(keys, 'aes')",
        replace: "liveKeys(keys, 'aes').at(-1)",
      },
    ],
  },
  'choice-of-a-key-undone-by-the-next-request': {
    what: 'A request under the key that was in use all along ends the choice of another key for callbacks.',
    caughtBy: 'merchant-key-rotation.test.ts',
    places: [
      {
        in: 'setKeyInUse',
        find: 'then callback_key_id end',
        replace: 'then null end',
      },
      {
        in: 'inUseAfter',
        find: 'before.inUseSinceMs === undefined ? { key: aes, isChange: false } : undefined',
        replace: '{ key: aes, isChange: false }',
      },
    ],
  },
  'needed-key-revoked-by-accident': {
    what: 'The key that seals callbacks is revoked without a confirmation.',
    caughtBy: 'simulation',
    places: [{ in: 'revokeUnneededKey', find: 'if (first && !confirm)', replace: 'if (first && confirm)' }],
  },
  'key-in-use-recorded-by-each-request': {
    what: 'Every request under one of two keys writes that it was used.',
    caughtBy: 'merchant-key-rotation.test.ts',
    places: [
      {
        in: 'isDue',
        find: 'liveKeys(keys, key.kind).length > 1 && !isUsedWithin(recordedEveryMs, key, nowMs)',
        replace: 'nowMs > 0',
      },
      {
        in: 'recordKeyUse',
        find: 'and (used_at is null or abs',
        replace: 'and (used_at is null or used_at > 0 or abs',
      },
      {
        in: 'isUseSettled',
        find: 'if (!only || others.length > 0) return false',
        replace: 'if (!only || others.length >= 0) return false',
      },
    ],
  },
  'charge-booked-beside-another-settlement': {
    what: 'A line is booked as a charge without regard to who else settles its break at that moment.',
    caughtBy: 'own-lines.test.ts',
    places: [
      {
        in: 'bookOwn',
        find: 'await resolve(transaction, { ...booking, matched: undefined }, { entry: undefined, nowMs: entry.actedAtMs }, )',
        replace:
          'await resolve(transaction, { ...booking, matched: undefined }, { entry: undefined, nowMs: entry.actedAtMs }).catch((error: unknown) => { if (!(error instanceof ResolvedMeanwhile)) throw error })',
      },
      {
        in: 'matchResolved',
        find: "if (rowCount !== 1) throw new ResolvedMeanwhile('the line was matched meanwhile')",
        replace: 'void rowCount',
      },
      {
        in: 'checkNotBooked',
        find: 'minor.includes(amountMinor) || minor.reduce((sum, each) => sum + each, 0n) === amountMinor',
        replace: 'minor.length < 0',
      },
    ],
  },
  'corrected-twice': {
    what: 'Neither the guard nor the table stops corrections from adding up to more than what they correct.',
    caughtBy: 'corrections.test.ts',
    places: [
      {
        in: 'migrations',
        find: 'check (corrected_minor <= amount_minor)',
        replace: 'check (amount_minor > 0)',
      },
      {
        in: 'noteCorrected',
        find: 'where c.corrected_minor + excluded.corrected_minor <= c.amount_minor',
        replace: 'where c.amount_minor > 0',
      },
    ],
  },
  'effect-forgotten': {
    what: 'Changed settings of a merchant need no approval, whatever they redirect.',
    caughtBy: 'one-person.test.ts',
    places: [
      {
        in: 'changeMerchantSettings',
        find: 'effects: effectsOfChange(before, settings)',
        replace: 'effects: effectsOfChange(before, settings).slice(0, 0)',
      },
    ],
  },
  'endpoint-event-lost': {
    what: 'Endpoints of a merchant do not hear of an order that names no callbackUrl.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'insertCallbacks',
        find: 'toEndpoints(callbacks, endpoints)',
        replace: 'toEndpoints(callbacks.filter(({ callbackUrl }) => callbackUrl), endpoints)',
      },
    ],
  },
  'endpoint-of-another-merchant': {
    what: 'Events of a batch go to the endpoints of every merchant that is in it.',
    caughtBy: 'endpoints.test.ts',
    places: [{ in: 'toEndpoints', find: 'merchantId === callback.merchantId && ', replace: '' }],
  },
  'endpoint-resumed-and-forgotten': {
    what: 'What waited for a paused endpoint goes on waiting when it is resumed.',
    caughtBy: 'endpoints.test.ts',
    places: [
      {
        in: 'resume',
        find: "and held_reason = 'endpoint_paused'",
        replace: "and held_reason = 'paused'",
      },
    ],
  },
  'expiry-overrides-confirming': {
    what: 'An order that is being paid is timed out by whoever had read it before.',
    caughtBy: 'order-races.test.ts',
    places: [
      {
        in: 'changeWithoutCallbacks',
        find: 'and o.status = c.from_status',
        replace: "and (o.status = c.from_status or (o.status = 'confirming' and c.to_status = 'timeout'))",
      },
    ],
  },
  'feed-numbers-given-too-early': {
    what: 'Two readers of the feed give positions at once, without the lock: numbers are given twice or passed over.',
    caughtBy: 'event-feed.test.ts',
    places: [
      { in: 'giveNumbers', find: 'select from event_feed for update', replace: 'select from event_feed' },
    ],
  },
  'feed-skips': {
    what: 'The feed passes over every seventh event.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'listAfter',
        find: 'from events where position >',
        replace: 'from events where position % 7 <> 0 and position >',
      },
    ],
  },
  'feed-out-of-order': {
    what: 'Events of an order are numbered by the clocks of the processes alone.',
    caughtBy: 'event-feed.test.ts',
    places: [
      {
        in: 'giveNumbers',
        find: 'over (order by step, event_id)',
        replace: 'over (order by event_id)',
      },
    ],
  },
  'fee-given-back-again-and-again': {
    what: 'Every partial refund gives back the share of all refunds so far, not its own.',
    caughtBy: 'fees.test.ts',
    places: [{ in: 'feeReturn', find: '- returnedFeeMinor(order, refundedBeforeMinor)', replace: '' }],
  },
  'fee-rounded-against-the-merchant': {
    what: 'A fee is rounded up, and not half up.',
    caughtBy: 'fees.test.ts',
    places: [
      {
        in: 'halfUp',
        find: '(2n * dividend + divisor) / (2n * divisor)',
        replace: '(dividend + divisor - 1n) / divisor',
      },
    ],
  },
  'fee-taken-twice': {
    what: 'The fee of a payment from a wallet is posted twice, under two numbers.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'settlePayment',
        find: '[end, charge.transfer]',
        replace:
          "[end, charge.transfer, { ...charge.transfer, transferId: charge.transfer.transferId + '2' }]",
      },
    ],
  },
  'history-row-missing': {
    what: 'An order times out without a line in its history.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'changeWithoutCallbacks',
        find: 'c.actor, c.message from moved join changes c using (merchant_id, payment_id)',
        replace:
          "c.actor, c.message from moved join changes c using (merchant_id, payment_id) where c.to_status <> 'timeout'",
      },
    ],
  },
  'idempotency-compare-skipped': {
    what: 'Another order under a number that is taken is answered as if it were the first.',
    caughtBy: 'simulation',
    places: [
      { in: 'differingField', find: 'return differingPath(said(a), said(b))', replace: 'return undefined' },
    ],
  },
  'lease-of-a-callback-ignored': {
    what: 'A worker that lost its claim on a callback records its attempt all the same.',
    caughtBy: 'callback-queue.test.ts',
    places: [
      {
        in: 'settleQueue',
        find: '(callback_id, claim_id) where q.callback_id = d.callback_id and q.claim_id = d.claim_id',
        replace: '(callback_id, claim_id) where q.callback_id = d.callback_id',
      },
      {
        in: 'settleQueue',
        find: '(callback_id, claim_id, due_at) where q.callback_id = d.callback_id and q.claim_id = d.claim_id',
        replace: '(callback_id, claim_id, due_at) where q.callback_id = d.callback_id',
      },
    ],
  },
  'lease-of-an-authorization-ignored': {
    what: 'A worker that lost its claim takes the authorization away from the one that holds it, and nobody ends the payment.',
    caughtBy: 'simulation',
    places: [{ in: 'removeClaimed', find: 'and s.claim_id = c.claim_id', replace: '' }],
  },
  'ledger-not-balanced': {
    what: 'What is posted is taken from one account and does not arrive in the other.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'effectsOf',
        find: 'creditsPostedMinor: posted',
        replace: 'creditsPostedMinor: 0n * posted',
      },
    ],
  },
  'link-paid-twice': {
    what: 'Whoever presses the button of a link for one payment gets an order of their own, and the table lets them.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'migrations',
        find: "where link_uses = 'once' and status in ('pending', 'confirming', 'success');",
        replace: "where link_uses = 'once' and status = 'no such status';",
      },
      {
        in: 'findOrMake',
        find: "if (earlier && standing === 'leads_on') return earlier",
        replace: "if (earlier && standing === 'leads_on' && link.uses === 'many') return earlier",
      },
    ],
  },
  'lost-commit-taken-for-done': {
    what: 'A COMMIT whose answer was lost is told as done without looking.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'makePaymentStore',
        find: "if (error instanceof CommitUnknown) return 'unknown'",
        replace: "if (error instanceof CommitUnknown) return 'submitted'",
      },
    ],
  },
  'limit-of-a-wallet-ignored': {
    what: 'Payments that come in one batch are each held to the limit of the day as if they were alone.',
    caughtBy: 'wallet-limits.test.ts',
    places: [
      {
        in: 'takeMoney',
        find: 'spentMinor: spentMinorOn(spending, day) + minor',
        replace: 'spentMinor: spentMinorOn(spending, day) + 0n * minor',
      },
    ],
  },
  'missing-check-and-unchecked-refund-sum': {
    what: 'Neither the code, nor the guard in the UPDATE, nor the table stops refunds from adding up to more than was paid.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'migrations',
        find: 'case when refund_count > 0 or disputed_minor > 0 then payment_amount_minor else 0 end',
        replace:
          'case when refund_count > 0 or disputed_minor > 0 then 1000 * payment_amount_minor else 0 end',
      },
      refundSumUnchecked,
      {
        in: 'takeShare',
        find: 'and refunded_minor + refund_held_minor + $3 <= least(payment_amount_minor - disputed_minor, $4::numeric)',
        replace: 'and $3::numeric > 0 and coalesce($4::numeric, 1) > 0',
      },
    ],
  },
  'missing-guard-in-the-update': {
    what: 'A change of status no longer asks whether the order is still in the status that it was decided on.',
    caughtBy: 'simulation',
    places: [{ in: 'changeWithoutCallbacks', find: 'and o.status = c.from_status', replace: '' }],
  },
  'partition-dropped-too-early': {
    what: 'A partition is dropped once its first row is past its time, with all that is younger.',
    caughtBy: 'partitions.test.ts',
    places: [
      {
        in: 'keep',
        find: 'untilMs }) => untilMs <= keptSinceMs',
        replace: 'fromMs }) => fromMs < keptSinceMs',
      },
    ],
  },
  'partition-made-beside-writers': {
    what: 'A partition is made while inserts are on their way into the default, where they then do not belong.',
    caughtBy: 'partitions.test.ts',
    places: [{ in: 'keep', find: "'share row exclusive'", replace: "'share update exclusive'" }],
  },
  'partition-takes-what-is-needed': {
    what: 'Of a partition that is dropped, the attempts of a callback that was asked for again go, and the others stay.',
    caughtBy: 'partitions.test.ts',
    places: [{ in: 'drop', find: ') in (select', replace: ') not in (select' }],
  },
  'payout-made-twice': {
    what: 'Whoever looks for plans that are due does not lock them, moves none of them on, and no key stops the second payout.',
    caughtBy: 'payout-runs.test.ts',
    places: [
      { in: 'claimDuePlans', find: 'for update skip locked', replace: '' },
      { in: 'moveOnPlans', find: 'next_day = d.next_day, last_day', replace: 'last_day' },
      {
        in: 'migrations',
        find: 'create unique index payouts_plan_day on payouts (merchant_id, currency, plan_day) where plan_day is not null;',
        replace: '',
      },
      { in: 'migrations', find: 'check (next_day > last_day)', replace: 'check (true)' },
      {
        in: 'makeWorkPayouts',
        find: 'more: ended !== undefined',
        replace: 'more: false',
      },
    ],
  },
  'payout-reserve-ignored': {
    what: 'A plan pays out the reserve as well.',
    caughtBy: 'payout-runs.test.ts',
    places: [
      {
        in: 'decidePlan',
        find: 'keptMinor: reserveMinor(plan.reserve, salesMinor)',
        replace: 'keptMinor: 0n',
      },
    ],
  },
  'payout-returned-twice': {
    what: 'A payout that came back comes back again: the change asks no more whether the status is still what it was.',
    caughtBy: 'payout-runs.test.ts',
    places: [{ in: 'changePayouts', find: 'and p.status = c.from_status', replace: '' }],
  },
  'rail-late-money-lost': {
    what: 'Money that a rail took after its order had ended is noticed, and nothing is written down.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'decideLate',
        find: 'if (isKnown) return',
        replace: "if (isKnown || lateMoney.startsWith('refund')) return",
      },
    ],
  },
  'rail-notification-believed': {
    what: 'A notification of a rail is taken for the rail’s word: what it is about is approved, whatever the rail answers.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'makeHandleRailNotification',
        find: 'const isWaiting =',
        replace: `const told = globalThis as { believed?: Set<string> }
    told.believed = (told.believed ?? new Set<string>()).add(id)
    const isWaiting =`,
      },
      {
        in: 'makeAskAboutPayment',
        find: 'const { answer, calls } = asked',
        replace: `const { calls } = asked
    const isTold = (globalThis as { believed?: Set<string> }).believed?.has(task.taskId)
    const answer: RailPaymentAnswer = isTold ? { status: 'approved', reference: 'notice' } : asked.answer`,
      },
    ],
  },
  'rail-refunds-twice': {
    what: 'A refund at a rail whose answer was lost is begun again under another id.',
    caughtBy: 'simulation',
    places: [
      { in: 'makeAskAboutRefund', find: 'if (claims === 1)', replace: 'if (claims > 0)' },
      {
        in: 'makeAskAboutRefund',
        find: 'refundStart({ refundId: taskId,',
        replace: "refundStart({ refundId: claims === 1 ? taskId : taskId + '-' + claims,",
      },
    ],
  },
  'rail-response-unsigned': {
    what: 'A response of a rail is believed without a signature: what lies between can approve a payment.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'whyNoResponse',
        find: "return verdict === 'genuine' ? undefined :",
        replace: "return verdict === 'genuine' || verdict === 'not_signed' ? undefined :",
      },
    ],
  },
  'rail-response-of-another-message': {
    what: 'A response of a rail is believed whatever message it was signed for: an old approval approves again.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'whyNoResponse',
        find: "return verdict === 'genuine' ? undefined :",
        replace: "return verdict === 'genuine' || verdict === 'wrong_id' ? undefined :",
      },
    ],
  },
  'rail-starts-twice': {
    what: 'A start at a rail whose answer was lost is begun again under another id.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'makeAskAboutPayment',
        find: "if (startsAgain(facts, first.answer)) return withCalls(await put('payment.start'), [first.call])",
        replace: `if (startsAgain(facts, first.answer)) {
    const id = transactionId.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const again = await startMessage({ ...facts, attempt: { ...facts.attempt, transactionId: id } })
    const parse = (text: string) => parseRailPaymentAnswer('payment.start', text)
    return withCalls(await ask(rail, again, parse), [first.call])
    }`,
      },
    ],
  },
  'passkey-answers-twice': {
    what: 'A challenge that was answered may be answered again: whoever has seen the answer signs in with it.',
    caughtBy: 'passkey-answers.test.ts',
    places: [
      {
        in: 'usePasskey',
        find: 'and last_challenge_at < ',
        replace: 'and last_challenge_at <= ',
      },
    ],
  },
  'ended-access-opens-a-wallet': {
    what: 'Whoever proved a PIN or a passkey before all access to the wallet was ended still gets a session.',
    caughtBy: 'passkey-answers.test.ts',
    places: [
      {
        in: 'makeWalletSessionStore',
        find: 'if (!(await hasAccess(transaction, access, walletTables))) return false',
        replace: 'if (access === undefined || hasAccess === undefined) return false',
      },
    ],
  },
  'known-device-is-told-of': {
    what: 'Every right PIN is told to the owner as a new device, until nobody reads such mails any more.',
    caughtBy: 'wallet-emails.test.ts',
    places: [
      {
        in: 'makeAuthenticateWallet',
        find: "!taken.isKnownDevice && wallet.status === 'active'",
        replace: "wallet.status === 'active'",
      },
    ],
  },
  'cancelled-withdrawal-is-not-told': {
    what: 'The money of a withdrawal is back in the wallet since its run was cancelled, and nobody is told.',
    caughtBy: 'wallet-emails.test.ts',
    places: [
      {
        in: 'makeNotifyPayout',
        find: "wallet && status !== 'paid'",
        replace: "wallet && status === 'returned'",
      },
    ],
  },
  'opening-balance-counts-twice': {
    what: 'An opening balance that was booked before the first statement counts once more for each day.',
    caughtBy: 'own-lines.test.ts',
    places: [
      {
        in: 'readDay',
        find: 'case when book_day < a.start_day then 0 else abs(amount_minor) end',
        replace: 'abs(amount_minor)',
      },
    ],
  },
  'opening-balance-set-twice': {
    what: 'A bank account takes a second opening balance in the same currency.',
    caughtBy: 'own-money.test.ts',
    places: [
      {
        in: 'migrations',
        find: 'create unique index bank_openings_standing on bank_openings',
        replace: 'create index bank_openings_standing on bank_openings',
      },
    ],
  },
  'opening-balance-taken-for-a-line': {
    what: 'A line of the same amount is matched with an opening balance, and the money that came is in no book.',
    caughtBy: 'own-lines.test.ts',
    places: [{ in: 'isNoOpening', find: 'openings.length === 0', replace: 'openings.length >= 0' }],
  },
  'owner-withdraws-what-is-not-there': {
    what: 'Withdrawals at the same moment take more out of equity than it has.',
    caughtBy: 'own-money.test.ts',
    places: [
      {
        in: 'moveWithin',
        find: "(ownerKind === 'equity' && transfers.some(isWithdrawal))",
        replace: "(ownerKind === 'equity' && transfers.length < 0)",
      },
    ],
  },
  'sweep-carried-out-twice': {
    what: 'A sweep of fees is not known by the id that it was sent under: after a lost answer, fees are swept again.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'sweepFees',
        find: "auditId: once.idempotencyKey, ...(!isMoved && { effects: ['credits the operator'] }),",
        replace: "...(!isMoved && { effects: ['credits the operator'] }),",
      },
    ],
  },
  'statement-books-without-approval': {
    what: 'What an imported statement says is booked although one person supplied it.',
    caughtBy: 'one-person.test.ts',
    places: [
      {
        in: 'needsApproval',
        find: 'default: return coversAny(authority.policy, effects)',
        replace: "default: return authority.kind !== 'statement' && coversAny(authority.policy, effects)",
      },
    ],
  },
  'swept-fee-stops-the-refund': {
    what: 'A refund whose share of the fee was swept is refused by the table, and waits without end.',
    caughtBy: 'own-money.test.ts',
    places: [
      {
        in: 'migrations',
        find: "check (owner_kind in ('bank', 'rail', 'write_off', 'rail_fees', 'fees', 'equity', 'bank_charges', 'interest')",
        replace:
          "check (owner_kind in ('bank', 'rail', 'write_off', 'rail_fees', 'equity', 'bank_charges', 'interest')",
      },
    ],
  },
  'operators-top-up-over-the-limit': {
    what: 'An operator tops a wallet up without regard to what its owner is paying in just now.',
    caughtBy: 'wallet-money.test.ts',
    places: [{ in: 'checkBalances', find: ' + l.under_way > ', replace: ' > ' }],
  },
  'provider-opens-anothers-invitation': {
    what: 'Whoever the identity provider knows joins by an invitation to another address.',
    caughtBy: 'member-provider.test.ts',
    places: [
      {
        in: 'makeSignInMemberByProvider',
        find: 'email === undefined || normaliseEmail(email) !== invitation.login',
        replace: 'email === undefined',
      },
    ],
  },
  'reconciliation-fee-forgotten': {
    what: 'What a rail keeps of a sum that it pays over is not booked.',
    caughtBy: 'planted-month.test.ts',
    places: [
      {
        in: 'makeSettleRail',
        find: "...(feeMinor === 0n ? [] : [move('rail_fee', cost, feeMinor)]),",
        replace: '',
      },
    ],
  },
  'reconciliation-line-by-its-place': {
    what: 'A line of a statement is known by its place in the file, so that the same entry in another file counts again.',
    caughtBy: 'import.test.ts',
    places: [
      {
        in: 'makeIdentify',
        find: 'const { lineNumber: _, amountMinor, feeMinor, partyIban: __, ...said } = line',
        replace: 'const { amountMinor, feeMinor, partyIban: __, ...said } = line',
      },
    ],
  },
  'reconciliation-match-forgets-its-line': {
    what: 'A transfer is written down as matched, and the line that it is matched with still waits.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'recordFound',
        find: 'await resolveMatched(transaction, { account, matches: rest, nowMs })',
        replace: 'await resolveMatched(transaction, { account, matches: rest.slice(1), nowMs })',
      },
    ],
  },
  'reconciliation-twins-are-one': {
    what: 'Of two lines that are alike in one file the second is taken for the first.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'makeIdentify',
        find: 'const ordinal = ordinals.next(Number.parseInt(first.slice(0, 13), 16))',
        replace: 'const ordinal = 1',
      },
    ],
  },
  'refund-sum-unchecked': {
    what: 'The code lets a refund of more than is left through, and leaves it to the table to refuse.',
    caughtBy: 'refund.test.ts',
    places: [refundSumUnchecked],
  },
  'repeated-create-answers-a-new-order': {
    what: 'The repetition of a create is answered with a paymentId that is stored nowhere.',
    caughtBy: 'simulation',
    places: [{ in: 'insertOrders', find: 'earlierByOrder.get(order)', replace: 'order' }],
  },
  'scan-above-the-limit': {
    what: 'A code pays any amount without its owner.',
    caughtBy: 'scan.test.ts',
    places: [{ in: 'scanOf', find: 'if (!isSmall || scans', replace: 'if (scans' }],
  },
  'scan-after-the-minute': {
    what: 'A code that has ended is still used.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'useCode',
        find: 'and payment_id is null and expires_at >',
        replace: 'and payment_id is null and 9000000000000 >',
      },
    ],
  },
  'scan-by-a-used-code': {
    what: 'A used code makes another order.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'useCode',
        find: 'and payment_id is null and expires_at >',
        replace: 'and expires_at >',
      },
    ],
  },
  'second-callback-id-on-retry': {
    what: 'Every attempt of a callback has an id of its own, so that a merchant cannot know the repetition.',
    caughtBy: 'callback-ladder.test.ts',
    places: [
      {
        in: 'makePrepareCallback',
        find: '{ id: callbackId,',
        replace: '{ id: callbackId.replace(/.$/, (nowMs % 10).toString()),',
      },
    ],
  },
  'top-up-credited-twice': {
    what: 'A top-up is credited out of the rail’s account, although the payment went to the gateway’s own merchant: the money is there twice.',
    caughtBy: 'wallet-money.test.ts',
    places: [
      {
        in: 'creditOf',
        find: 'from: merchantAccount(merchantId, currency),',
        replace: "from: { ownerKind: 'rail', ownerId: order.railId ?? '', currency },",
      },
    ],
  },
  'late-money-under-the-id-of-its-hold': {
    what: 'Money of a payment that the rail took, declined and then approved has the id of its hold, and is never booked.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'latePaymentId',
        find: 'order.transactionId === transactionId ?',
        replace: "order.transactionId === '' ?",
      },
    ],
  },
  'resend-forgets-its-endpoint': {
    what: 'A callback that is sent again after its end is sent as if it were no endpoint’s.',
    caughtBy: 'endpoints.test.ts',
    places: [
      {
        in: 'resend',
        find: 'select callback_id, merchant_id, host, due_at, true, endpoint_id, destination_id from wanted where is_ended',
        replace:
          "select callback_id, merchant_id, host, due_at, true, '', destination_id from wanted where is_ended",
      },
    ],
  },
  'withdrawal-paid-twice': {
    what: 'A withdrawal is not known by the number of its form: sent twice, or again after a lost answer, it is paid twice.',
    caughtBy: 'wallet-money.test.ts',
    places: [
      {
        in: 'makeWithdraw',
        find: 'wallet,\n      formNumber,\n      currency,\n      amountMinor,\n      account,',
        replace:
          'wallet,\n      formNumber: makeUuid(nowMs, random),\n      currency,\n      amountMinor,\n      account,',
      },
    ],
  },
  'dispute-taken-twice': {
    what: 'A dispute takes its amount again with every change: a merchant who loses pays twice.',
    caughtBy: 'simulation',
    places: [
      {
        in: 'moveDispute',
        find: 'const taken = takenMinor(dispute) - takenMinor(before)',
        replace: 'const taken = takenMinor(dispute)',
      },
    ],
  },
  'dispute-won-credited-twice': {
    what: 'A dispute that was won is credited twice, the second time out of other merchants’ withheld money.',
    caughtBy: 'disputes.test.ts',
    places: [
      {
        in: 'makeBooks',
        find: "book(kind, kind === 'dispute_won' ? disputes : fees, merchant, amountMinor)",
        replace: `book(kind, kind === 'dispute_won' ? disputes : fees, merchant, amountMinor)
      if (kind === 'dispute_won') book(kind, disputes, merchant, amountMinor)`,
      },
    ],
  },
  'refund-of-a-disputed-amount': {
    what: 'A payment that the rail took back is refunded as well, so that the consumer has the money twice.',
    caughtBy: 'disputes.test.ts',
    places: [
      { in: 'refundableMinor', find: '- order.disputedMinor', replace: '' },
      {
        in: 'takeShare',
        find: 'least(payment_amount_minor - disputed_minor,',
        replace: 'least(payment_amount_minor,',
      },
      {
        in: 'migrations',
        find: 'refund_held_minor + disputed_minor - disputed_over_minor',
        replace: 'refund_held_minor',
      },
    ],
  },
  'dispute-of-another-rail': {
    what: 'Disputes are known by their number alone, so that of two rails with one number, one is never asked.',
    caughtBy: 'disputes.test.ts',
    places: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code
      { in: 'disputeTaskId', find: '`${railId}:${reference}`', replace: "(railId && 'rail:') + reference" },
    ],
  },
}
