// Makes changed ledgers consistent again, as a forger with all rights would: the chain of hashes alone cannot detect that,
// other rules do.

const entryTypes = 'uuid, bigint, text, bigint, bigint, text, text, timestamptz, bigint, bigint, uuid, text'

/** Has to be created first: an aggregate for the hash of a whole chain. */
export const createChainHash = `
  create schema forged;
  create function forged.next_hash(bytea, ${entryTypes}, bigint) returns bytea language sql as $$
    select case when $14 is null then ledger_entry_hash($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
                else ledger_entry_hash_adjusted($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) end $$;
  create aggregate chain_hash (${entryTypes}, bigint) (sfunc = forged.next_hash, stype = bytea, initcond = '')`

/** Recomputes the hashes of the entries and of the accounts. */
export const rewriteHashes = `
  update ledger_entries e set entry_hash = c.hash
  from (select customer_id, entry_number,
               chain_hash(customer_id, entry_number, kind, delta, balance_after, order_id, reference, created_at,
                          held_delta, held_after, hold_id, service_id, adjusted_after) over chain as hash
        from ledger_entries window chain as (partition by customer_id order by entry_number)) c
  where c.customer_id = e.customer_id and c.entry_number = e.entry_number;
  update accounts a set last_hash = e.entry_hash from ledger_entries e
  where e.customer_id = a.customer_id and e.entry_number = a.last_entry`

/** After a change of the deltas: recomputes balances, held credits, hashes and accounts from the first entry. */
export const rewriteLedgers = `
  update ledger_entries e set balance_after = c.balance, held_after = c.held
  from (select customer_id, entry_number, sum(delta) over chain as balance, sum(held_delta) over chain as held
        from ledger_entries window chain as (partition by customer_id order by entry_number)) c
  where c.customer_id = e.customer_id and c.entry_number = e.entry_number;
  update accounts a
  set balance = e.balance_after, held = e.held_after, last_entry = e.entry_number,
      moved_at = greatest(moved_at, e.created_at)
  from (select distinct on (customer_id) * from ledger_entries order by customer_id, entry_number desc) e
  where e.customer_id = a.customer_id;
  ${rewriteHashes}`
