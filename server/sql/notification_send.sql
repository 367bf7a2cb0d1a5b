-- Sends notifications to the other brokers. $1 payloads. One row each, empty.
SELECT pg_notify('skiplane', h.payload) FROM unnest($1::text[]) AS h(payload)
