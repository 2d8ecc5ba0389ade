import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBillLines } from './bill-lines.ts'

const heads = 'time,kind,transactionId,paymentId,orderNo,refundId,referRefundNo,currency,amount\r\n'

test('lines are read as they were before spreadsheet escaping, without balances', () => {
  const csv = [
    heads,
    ',opening,,,,,,USD,0.00\r\n',
    `2026-11-16T23:00:00.000Z,payment,T1,P1,"'=1+1,""two""; three",,,USD,25.00\r\n`,
    `2026-11-16T23:00:01.000Z,refund,T2,P1,"a;'-b",R1,'@home,USD,-5.00\r\n`,
    ',late,,,,,,USD,1.00\r\n',
    ',closing,,,,,,USD,21.00\r\n',
  ].join('')
  const [payment, refund, late, ...more] = readBillLines(csv)
  assert.deepEqual(payment, {
    kind: 'payment',
    time: Date.parse('2026-11-16T23:00:00Z'),
    transactionId: 'T1',
    paymentId: 'P1',
    orderNo: '=1+1,"two"; three',
    refundId: undefined,
    referRefundNo: undefined,
    currency: 'USD',
    amount: '25.00',
  })
  assert.deepEqual([refund?.orderNo, refund?.referRefundNo, refund?.amount], ['a;-b', '@home', '-5.00'])
  assert.deepEqual([late?.kind, late?.time, late?.amount], ['late', undefined, '1.00'])
  assert.deepEqual(more, [])
})

test('new columns are ignored, and another file is rejected', () => {
  const [line] = readBillLines('new,kind,currency,amount\r\nx,payment,EUR,1.00\r\n')
  assert.deepEqual([line?.kind, line?.amount], ['payment', '1.00'])
  assert.deepEqual([...readBillLines('')], [])
  assert.throws(() => [...readBillLines(`${heads}"broken`)], SyntaxError)
})
