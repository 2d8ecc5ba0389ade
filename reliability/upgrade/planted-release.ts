// A release that is not there yet: a copy of this tree with a higher version and one more migration, which does what
// migrations of a minor version do. It stands in for the next release until there is one.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inTreeCopy } from '../support/tree-copy.ts'

export const plantedVersion = '1.1.0'

const migration = `-- A column with a default, a column without one, an index on a large table, and a new table of merchants.
alter table orders add column planted_note text not null default 'none';
alter table callbacks add column planted_at bigint;
create index orders_planted on orders (merchant_id, created_at);

create table planted_notes (
  merchant_id text,
  payment_id  text,
  note        text not null check (note <> ''),
  primary key (merchant_id, payment_id),
  foreign key (merchant_id, payment_id) references orders(merchant_id, payment_id)
);
`

/** Gone again when the work is done. */
export function withPlantedRelease<Result>(work: (tree: string) => Promise<Result>): Promise<Result> {
  return inTreeCopy(async (tree) => {
    const gateway = join(tree, 'packages/gateway')
    await writeFile(join(gateway, 'migrations/0016-planted.sql'), migration)
    await change(join(gateway, 'package.json'), [/"version": "[^"]+"/, `"version": "${plantedVersion}"`])
    await change(join(gateway, 'src/platform/database/tables.ts'), [
      /( *)rail_calls: \{ place: 'spread' \},/,
      `$&\n$1planted_notes: { place: 'spread', references: ofOrder },`,
    ])
    return work(tree)
  })
}

async function change(path: string, [from, to]: readonly [RegExp, string]): Promise<void> {
  const text = await readFile(path, 'utf8')
  const changed = text.replace(from, to)
  if (changed === text)
    throw new Error(`${path} has no ${from}: change reliability/upgrade/planted-release.ts`)
  await writeFile(path, changed)
}
