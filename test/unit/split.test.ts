// The splitter of migrations: a semicolon ends a statement, except in quotes, dollar quotes and comments.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { splitStatements } from '../../src/db/cluster/split.ts'
import { listMigrations } from '../../src/db/migrate.ts'

const samples: Record<string, string[]> = {
  '': [],
  ' ;; -- only; a comment\n/* and; another */ ; ': [],
  'select 1': ['select 1'],
  'select 1; select 2 ;\n': ['select 1', 'select 2'],
  "select ';', 'it''s;'; select 2": ["select ';', 'it''s;'", 'select 2'],
  "select e'\\';', E'a''\\\\'; select note';'": ["select e'\\';', E'a''\\\\'", "select note';'"],
  'select 1 as "a;""b"; select 2': ['select 1 as "a;""b"', 'select 2'],
  "-- it's; a comment\nselect 1; -- another\nselect 2": ["-- it's; a comment\nselect 1", '-- another\nselect 2'],
  "select /* it's; /* inside; */ still; */ 1; select 2": ["select /* it's; /* inside; */ still; */ 1", 'select 2'],
  'do $$ begin null; end $$; select 2': ['do $$ begin null; end $$', 'select 2'],
  'do $a$ $$;$$ $A$; $a$; select 2': ['do $a$ $$;$$ $A$; $a$', 'select 2'],
  'prepare p as select $1; select a$b$; select 3 as c$b$': [
    'prepare p as select $1',
    'select a$b$',
    'select 3 as c$b$',
  ],
}

test('a file is split at the semicolons that end a statement', () => {
  for (const [text, statements] of Object.entries(samples)) assert.deepEqual(splitStatements(text), statements, text)
})

test('nothing of a migration is lost when it is split', () => {
  const bare = (text: string) => text.replace(/--.*$/gm, '').replaceAll(/[\s;]/g, '')
  for (const { name, text } of listMigrations()) {
    const statements = splitStatements(text)
    assert.equal(bare(statements.join(';\n')), bare(text), name)
    for (const each of statements)
      assert.match(
        each.replace(/^(--.*\n|\s)+/, ''),
        /^(create|alter|drop|insert|update|delete|do|comment|with)\b/,
        name,
      )
  }
})
