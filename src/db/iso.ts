// Times within JSON that PostgreSQL builds, in the same form as all others.
import { type Sql, sql } from './sql.ts'
export const iso = (column: Sql): Sql => sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
