#!/bin/sh
# Run once by the image of PostgreSQL when it sets up its data: the role that owns the database and migrates, and the role
# that serves, which owns nothing and is given its rights by the other. Neither is a superuser. docs/architecture.md, Rights
# in the database.
set -eu
psql --set=ON_ERROR_STOP=1 --set=owner_password="$OWNER_PASSWORD" --set=service_password="$SERVICE_PASSWORD" \
  --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
create role credits_owner login password :'owner_password';
create role credits_service login password :'service_password';
alter database credits owner to credits_owner;
revoke all on database credits from public;
grant connect on database credits to credits_service;
SQL
