// What a spend or a hold was for: a key, a user, a label, and a number of units, as the calling service names them. The statement
// that writes the entry writes them too, once, and only where there are any. A customer has at most a hundred different labels:
// each has a place, so the schema refuses one more also when two are first used at once. A label that is new is stored by a
// statement of one input (budgets/restricted.sql.ts), which counts the places.

/** Each is a row of the use by label, and of a chart. */
export const mostLabels = 100

export const mostUnits = 1_000_000_000_000

/** What a spend or a hold may carry. */
export type UseDetails = {
  keyId?: string | null
  userId?: string | null
  label?: string | null
  units?: number | null
}

/** As inputs of a statement. */
export const detailColumns = { keyId: 'text', userId: 'text', label: 'text', units: 'bigint' } as const

/** Whether the input `i` has a label that its customer has not used yet. */
export const hasNewLabel = `
           i.label is not null
             and not exists (select from use_labels l where l.customer_id = i.customer_id and l.label = i.label)`

/** Whether `wanted`, of one row, has a new label and there is no place for it. */
export const hasTooManyLabels = `
           (select ${hasNewLabel}
              and ${mostLabels} <= (select count(*) from use_labels l where l.customer_id = i.customer_id)
            from wanted i)`

/**
 * CTE `new_label`: that of the movement of `wanted`. It counts in the snapshot of the statement; when another one has taken the
 * place meanwhile, the unique index refuses it, and the statement runs again.
 */
export const storeNewLabel = `
  new_label as (
    insert into use_labels (customer_id, label, place)
    select i.customer_id, i.label, 1 + (select count(*) from use_labels l where l.customer_id = i.customer_id)
    from wanted i
    join moved using (customer_id, reference)
    where ${hasNewLabel}
  )`

/**
 * For entries `e`: the details `d` of the entry that each belongs to, which is the opening of its hold (`opening`), the one that it
 * reverses, or the entry itself. Each is read by its key.
 */
export const joinDetails = `
  left join lateral (
    select o.entry_number, o.reference from ledger_entries o
    where o.customer_id = e.customer_id and o.hold_id = e.hold_id and o.kind = 'HOLD' and e.kind <> 'HOLD'
    limit 1
  ) opening on true
  left join lateral (
    select a.reversed_entry from adjustments a
    where a.customer_id = e.customer_id and a.entry_number = e.entry_number and e.kind = 'REVERSAL'
    limit 1
  ) reversal on true
  left join lateral (
    select * from use_details u
    where u.customer_id = e.customer_id
      and u.entry_number = coalesce(opening.entry_number, reversal.reversed_entry, e.entry_number)
    limit 1
  ) d on true`

/** CTE `detail`: what the movements of `input` were for. */
export const storeDetails = `
  detail as (
    insert into use_details (customer_id, entry_number, key_id, user_id, label, units)
    select i.customer_id, m.last_entry, i.key_id, i.user_id, i.label, i.units
    from input i
    join moved m using (customer_id, reference)
    where num_nonnulls(i.key_id, i.user_id, i.label, i.units) > 0
  )`
