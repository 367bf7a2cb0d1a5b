"""A broker as a shop would have it after a busy hour: what the pictures of the pages show."""

import json

from browser import place  # noqa: F401  (first: it leads to the modules below)
from support.client import DEADLINE_S, admin_pb2, new_id, task_pb2

QUEUES = {"exports.eu": 40, "exports.us": 60, "invoices": 130, "mail": 240, "payments": 90,
          "search-index": 180, "thumbnails": 150, "webhooks": 200}
STAGES = [{"name": "fetch"}, {"name": "encode"}, {"name": "publish"}]
ERRORS = (
    ("TimeoutError", b"no answer from mailer-4 after 30 s\n  at send (mailer.js:42)"),
    ("ConnectionRefused", b"connect ECONNREFUSED 10.0.4.17:2525\n  at connect (mailer.js:17)"),
    ("TemplateMissing", b"no template \"welcome-v3\"\n  at render (template.js:88)"),
)
# As if it had been a busy hour and a busy day: counts that rise and fall, times of some spread.
REPEAT = """
    INSERT INTO skiplane.minute_statistics
      (lane, minute, part, stage, run_first, wait_first, runs, waits)
    SELECT m.lane, m.minute - n * interval '1 min', m.part, m.stage,
      m.run_first + (3 * random())::int, m.wait_first + (6 * random())::int,
      (SELECT array_agg((c * k)::int)
       FROM unnest(ARRAY[3, 9, 14, 17, 14, 10, 7, 5, 3, 3, 2, 2, 1, 1, 1, 1, 0, 1]) c),
      (SELECT array_agg((c * k)::int)
       FROM unnest(ARRAY[20, 22, 14, 9, 7, 5, 4, 3, 3, 2, 2, 1, 1, 1, 1]) c)
    FROM skiplane.minute_statistics m, generate_series(1, 59) n,
      LATERAL (SELECT 0.6 + 0.4 * sin(n / 9.0 + m.lane) + random() * 0.7 AS k) k
    ON CONFLICT DO NOTHING;
    INSERT INTO skiplane.hour_statistics
      (lane, hour, stage, outcome, attempts, run_us, run_max_us, wait_us)
    SELECT h.lane, h.hour - n * interval '1 hour', h.stage, h.outcome, (h.attempts * k)::bigint,
      h.run_us, h.run_max_us, h.wait_us
    FROM skiplane.hour_statistics h, generate_series(1, 23) n,
      LATERAL (SELECT 30 + 25 * sin(n / 4.0) + random() * 12 AS k) k
    ON CONFLICT DO NOTHING;
    INSERT INTO skiplane.error_delta
      (lane, stage, fingerprint, seen_time, failures, error_type, error_text)
    SELECT e.lane, e.stage, e.fingerprint, now() - n * interval '1 hour',
      (9 * random() * random())::bigint, e.error_type, e.error_text
    FROM (SELECT lane, stage, fingerprint, error_type, error_text FROM skiplane.error_group
          UNION SELECT lane, stage, fingerprint, error_type, error_text FROM skiplane.error_delta
          WHERE seen_time IS NOT NULL) e, generate_series(1, 40) n"""


def payload(queue, number):
    return json.dumps({"order": f"A-{48210 + number}", "customer": f"c{number % 37:05}",
                       "template": "shipped" if queue == "mail" else queue}).encode()


def fill(client):
    """Tasks that wait, run, failed and succeeded."""
    client.create_queue("video", stages=STAGES)
    for queue, tasks in (*QUEUES.items(), ("video", 50)):
        client.enqueue_all(queue, [
            client.new_task(payload(queue, number), key=f"order-{48210 + number}",
                            content_type="application/json", headers={"tenant": "acme-shop"},
                            priority=5 * (number % 7 == 0)) for number in range(tasks)])
        work(client, queue, tasks // 2)
    plan(client)
    client.pause("exports.us", reason="the provider is down until 14:00")
    annotate(client)


def plan(client):
    """Periodic tasks; the last run of one failed."""
    client.enqueue("webhooks", key="remove-old-deliveries", period={"seconds": 3600},
                   priority=-1)
    leased = client.lease("webhooks")[0]
    client.nack(leased, error=task_pb2.TaskError(type=ERRORS[0][0], text=ERRORS[0][1]))
    for queue, key, cron in (("mail", "weekly-digest", "0 6 * * 1"),
                             ("invoices", "monthly-statements", "0 4 1 * *"),
                             ("exports.eu", "nightly-export", "30 2 * * *")):
        client.enqueue(queue, b"{}", key=key, cron=cron, time_zone="Europe/Berlin")


def annotate(client):
    """A note of the group that was seen last."""
    group = client.admin.ListErrorGroups(admin_pb2.ListErrorGroupsRequest(),
                                         timeout=DEADLINE_S).groups[0]
    client.admin.AnnotateErrorGroup(admin_pb2.AnnotateErrorGroupRequest(
        queue=group.queue, fingerprint=group.fingerprint,
        note="mailer-4 is being replaced; retry these after 16:00"), timeout=DEADLINE_S)


def work(client, queue, tasks):
    """Each ninth attempt fails, half of these for good."""
    leased = client.lease(queue, max_tasks=tasks, worker_id=new_id(),
                          worker_name=f"{queue}-worker-3")
    good = [task for number, task in enumerate(leased) if number % 9]
    for number, task in enumerate(leased[::9]):
        kind, text = ERRORS[number % len(ERRORS)]
        client.nack(task, ("RETRY", "FAIL")[number % 2],
                    error=task_pb2.TaskError(type=kind, text=text))
    client.ack(*good)


def go_on(client):
    """Workers that hold tasks."""
    for queue, tasks in (("mail", 12), ("payments", 4), ("webhooks", 8)):
        client.lease(queue, max_tasks=tasks, worker_id=new_id(), duration=600,
                     worker_name=f"{queue}-worker-3")
