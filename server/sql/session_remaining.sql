-- How long a session lives if nothing renews it. $1 id. One row if it lives: microseconds.
SELECT (date_part('epoch', s.expire_time - now()) * 1e6)::int8
FROM skiplane.worker_session s WHERE s.id = $1::uuid AND s.state < 2
