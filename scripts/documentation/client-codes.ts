// What the clients in other languages share with ours, written in each language: the codes that a merchant can meet,
// by their names, and the statuses of an order.
import { failures } from '../../packages/protocol/src/codes.ts'
import { orderStatuses } from '../../packages/protocol/src/statuses.ts'

const codes = Object.entries(failures)
  .filter(([, entry]) => !('isAdminOnly' in entry))
  .map(([name, { code, meaning }]) => ({ name, code, meaning }))
const statuses = Object.keys(orderStatuses)
const note = 'Made by scripts/documentation.ts from the catalog of the gateway: do not edit.'

export function pythonCodes(): string {
  const rows = codes.map(({ name, code, meaning }) => `    # ${meaning}\n    ${code}: "${name}",`)
  return `"""${note}"""
from typing import Dict

CODES: Dict[int, str] = {
${rows.join('\n')}
}

ORDER_STATUSES = (${statuses.map((status) => `"${status}"`).join(', ')})
`
}

export function phpCodes(): string {
  const rows = codes.map(({ name, code, meaning }) => `        // ${meaning}\n        ${code} => '${name}',`)
  return `<?php
// ${note}
declare(strict_types=1);

namespace Tillgate;

final class Codes
{
    public const NAMES = [
${rows.join('\n')}
    ];

    public const ORDER_STATUSES = [${statuses.map((status) => `'${status}'`).join(', ')}];
}
`
}

export function goCodes(): string {
  const rows = codes.map(({ name, code, meaning }) => `\t// ${meaning}\n\t${code}: "${name}",`)
  return `// ${note}

package tillgate

// Codes has the name of every code that the gateway answers with.
var Codes = map[int]string{
${rows.join('\n')}
}

var orderStatuses = []string{${statuses.map((status) => `"${status}"`).join(', ')}}
`
}

export function javaCodes(): string {
  const rows = codes.map(
    ({ name, code, meaning }) => `      // ${meaning}\n      Map.entry(${code}, "${name}")`,
  )
  return `package tillgate;

import java.util.List;
import java.util.Map;

/** ${note} */
public final class Codes {
  /** The name of every code that the gateway answers with. */
  public static final Map<Integer, String> NAMES = Map.ofEntries(
${rows.join(',\n')});

  static final List<String> ORDER_STATUSES = List.of(${statuses.map((status) => `"${status}"`).join(', ')});

  private Codes() {}
}
`
}
