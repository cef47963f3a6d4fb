-- What was said before about the same order or payment.
create index if not exists discrepancies_by_subject on discrepancies (subject, resolved_at);
