// The fake's daily bill: a table in GBK and the day's totals, in a ZIP archive, as Alipay creates it.
import { crc32, deflateRawSync } from 'node:zlib'

export interface BillEntry {
  readonly number: string
  readonly ourNumber: string
  /** Set for a refund. */
  readonly requestNo?: string
  readonly atMs: number
  readonly fen: number
}

const head =
  '支付宝交易号,商户订单号,业务类型,商品名称,创建时间,完成时间,门店编号,门店名称,操作员,终端号,对方账户,订单金额（元）,商家实收（元）,支付宝红包（元）,集分宝（元）,支付宝优惠（元）,商家优惠（元）,券核销金额（元）,券名称,商家红包消费金额（元）,卡消费金额（元）,退款批次号/请求号,服务费（元）,分润（元）,备注'

export const beijing = (atMs: number) =>
  new Date(atMs + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ')

/** 0.6 percent, returned with a refund. */
export const feeOf = ({ fen }: BillEntry) => Math.sign(fen) * Math.round(Math.abs(fen) * 0.006)

export function billOf(entries: readonly BillEntry[]): Buffer {
  const yuan = (fen: number) => (fen / 100).toFixed(2)
  const rows = entries.map((entry) =>
    [
      ...[
        `${entry.number}\t`,
        `${entry.ourNumber}\t`,
        entry.requestNo ? '退款\t' : '交易\t',
        'Leaf & Cup: one, two',
      ],
      ...[beijing(entry.atMs), beijing(entry.atMs), '\t', '\t', '\t', '\t', '*明(159******89)\t'],
      ...[yuan(entry.fen), yuan(entry.fen), '0.00', '0.00', '0.00', '0.00', '0.00', '', '0.00\t', '0.00'],
      ...[`${entry.requestNo ?? ''}\t`, yuan(-feeOf(entry)), '0.00', ''],
    ].join(','),
  )
  const details = `#支付宝业务明细查询\n#账号：[20880000000000000156]\n#----业务明细列表----\n${head}\n${rows.join('\n')}\n#----业务明细列表结束----\n`
  return zipOf({ 'sums.csv': '#支付宝业务汇总查询\n门店编号,门店名称\n合计,\n', 'details.csv': details })
}

function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const [name, text] of Object.entries(files)) {
    const content = inGbk(text)
    const packed = deflateRawSync(content)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.length, 14)
    common.writeUInt32LE(content.length, 18)
    common.writeUInt16LE(name.length, 22)
    const entry = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed])
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(offset, 10)
    directory.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, rest, Buffer.from(name)]),
    )
    parts.push(entry)
    offset += entry.length
  }
  const listed = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(directory.length, 8)
  end.writeUInt16LE(directory.length, 10)
  end.writeUInt32LE(listed.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...parts, listed, end])
}

/** Node decodes GBK but does not encode it. */
let codes: Map<string, Buffer> | undefined

function inGbk(text: string): Buffer {
  if (!codes) {
    codes = new Map()
    const decoder = new TextDecoder('gbk')
    for (let first = 0x81; first <= 0xfe; first++)
      for (let second = 0x40; second <= 0xfe; second++) {
        const code = Buffer.from([first, second])
        codes.set(decoder.decode(code), code)
      }
  }
  return Buffer.concat(
    [...text].map((character) =>
      character.charCodeAt(0) < 0x80 ? Buffer.from(character) : (codes?.get(character) ?? Buffer.from('?')),
    ),
  )
}
