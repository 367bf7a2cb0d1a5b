-- Gives a waiting task other content. $1 lane  $2 id  $3 payload  $4 content type and headers as
-- JSON, null for none. The transaction has its row already.
UPDATE skiplane.task t
SET payload = $3::bytea, content_type = c.content_type, headers = c.headers
FROM (SELECT ($4::text[])[1] AS content_type, (($4::text[])[2])::jsonb AS headers) c
WHERE t.lane = $1::int8 AND t.id = $2::int8 AND t.state = 1
