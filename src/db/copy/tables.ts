// Which tables are copied, with all their columns, referenced tables first: foreign keys are enforced while a copy is loaded. Read
// from the catalog, so a new table is copied without a change here.
import pg from 'pg'

export type Table = {
  name: string
  columns: string[]
  quotedName: string
  quotedColumns: string
  /** By the primary key: two databases return their rows in the same order, whatever their collations are. */
  quotedOrder: string
}

type Found = { name: string; columns: string[]; quotedOrder: string | null; refersTo: string[] }

const listTablesText = `
  select c.relname as "name",
    array(select a.attname::text from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum) as "columns",
    (select string_agg(quote_ident(a.attname) || case when a.attcollation <> 0 then ' collate "C"' else '' end, ', '
                       order by k.place)
     from pg_index i cross join lateral unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
     where i.indrelid = c.oid and i.indisprimary) as "quotedOrder",
    array(select distinct r.relname::text from pg_constraint f join pg_class r on r.oid = f.confrelid
          where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid order by 1) as "refersTo"
  from pg_class c
  where c.relnamespace = to_regnamespace(current_schema()::text) and c.relkind = 'r' and c.relname = any ($1::text[])
  order by 1`

/** Throws when one is missing. */
export async function listTables(client: pg.ClientBase, names: string[]): Promise<Table[]> {
  const { rows } = await client.query<Found>(listTablesText, [names])
  const found = new Map(rows.map((row) => [row.name, row]))
  const missing = names.filter((name) => !found.has(name))
  if (missing.length > 0) throw new Error(`The database has no table ${missing.join(', ')}.`)
  return inOrder(found).map(({ name, columns, quotedOrder }) => {
    if (quotedOrder === null)
      throw new Error(`The table ${name} has no primary key: its rows cannot be copied in a fixed order.`)
    const quotedColumns = columns.map((column) => pg.escapeIdentifier(column)).join(', ')
    return { name, columns, quotedName: pg.escapeIdentifier(name), quotedColumns, quotedOrder }
  })
}

/** Referenced tables come first. */
function inOrder(found: Map<string, Found>): Found[] {
  const done = new Set<Found>()
  function visit(table: Found, path: string[]): void {
    if (path.includes(table.name))
      throw new Error(`The tables ${[...path, table.name].join(', ')} refer to each other.`)
    if (done.has(table)) return
    for (const name of table.refersTo) {
      const other = found.get(name)
      if (other) visit(other, [...path, table.name])
    }
    done.add(table)
  }
  for (const table of found.values()) visit(table, [])
  return [...done]
}

const listOthersText = `
  select c.relname as "name", c.relkind::text as "kind" from pg_class c
  where c.relnamespace = to_regnamespace(current_schema()::text) and c.relkind in ('r', 'p', 'S', 'v', 'm', 'f')
    and c.relname <> all ($1::text[])
    and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
  order by 1`

/** Other relations in the schema, which are not copied. Those of extensions are no data. */
export async function listOthers(client: pg.ClientBase, names: string[]): Promise<string[]> {
  return (await client.query<{ name: string }>(listOthersText, [names])).rows.map(({ name }) => name)
}
