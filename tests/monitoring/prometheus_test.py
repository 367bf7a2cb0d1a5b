"""What a real Prometheus says of two brokers, by the recording rules that are shipped, is what was
done there."""

import time
import unittest

import place  # noqa: F401  (first: it finds the others)
import prometheus
from prometheus import Prometheus
from support.case import SystemTest, slow
from support.client import seconds

QUEUE, LEFT = "mail", "left"
WINDOW_S = 60
SHORT = {"recording.rules.yml": {r"\[5m\]": f"[{WINDOW_S}s]"}}
ENQUEUED = (18, 12)  # at each broker
SLOW_S = 5.5  # above a bound of the buckets: 5 s


@slow
@unittest.skipUnless(prometheus.IS_INSTALLED, prometheus.WHY_NOT)
class TwoBrokers(SystemTest):
    def setUp(self):
        super().setUp()
        self.brokers = [self.start_broker() for _ in range(2)]
        self.clients = [self.client_of(broker) for broker in self.brokers]
        for name in (QUEUE, LEFT):
            self.clients[0].create_queue(name)
        self.prometheus = Prometheus(self.brokers, SHORT)
        self.addCleanup(self.prometheus.end)
        self.await_value(f'count(skiplane_tasks_enqueued_total{{queue="{QUEUE}",'
                         'outcome="created"} == 0)', 2)
        self.begin_histograms()
        self.work()

    def begin_histograms(self):
        """They begin with their first value, and a rate is of what comes after a first sample."""
        for client in self.clients:
            client.enqueue(QUEUE)
            client.ack(*self.leased(client, 1))
        for name in ("wait", "run"):
            self.await_value(f"count(skiplane_task_{name}_seconds_count)", 2)

    def work(self):
        """30 tasks of which 20 are leased at once and 10 late, and 10 take long; two fail."""
        first, second = self.clients
        self.begin = time.time()
        for client, count in zip(self.clients, ENQUEUED):
            client.enqueue_all(QUEUE, [{} for _ in range(count)])
        first.enqueue_all(LEFT, [*({} for _ in range(7)), {"delay": seconds(3600)}])
        first.lease(LEFT, max_tasks=3, worker_id="w", duration=600)
        quick = self.leased(first, 10) + self.leased(second, 10)
        second.ack(*quick[:10])
        self.database.pass_time(SLOW_S)
        late = self.leased(second, 10)
        second.ack(*quick[10:], *late[:8])
        for task in late[8:]:
            first.nack(task, "FAIL")

    def leased(self, client, count):
        tasks = []
        while len(tasks) < count:
            tasks += client.lease(QUEUE, max_tasks=count - len(tasks), worker_id="w", duration=600)
        return tasks

    def await_value(self, expression, wanted):
        self.prometheus.await_that(
            lambda: [value for _, value in self.prometheus.query(expression)] == [wanted],
            lambda: f"{expression} is {self.prometheus.query(expression)}, not {wanted}")

    def value(self, expression):
        [(_, value)] = self.prometheus.query(expression)
        return value

    def test_depth_age_rates_and_percentiles_are_what_was_done(self):
        self.await_value('sum(skiplane_task_attempts_total{outcome="failed"})', 2)
        self.await_value("sum(skiplane_task_run_seconds_count)", 2 + sum(ENQUEUED))
        self.check_depth_and_age()
        self.check_rates()
        self.check_percentiles()

    def check_depth_and_age(self):
        for state, count in (("ready", 4), ("leased", 3), ("scheduled", 1)):
            self.await_value(
                f'queue:skiplane_queue_tasks:max{{queue="{LEFT}",state="{state}"}}', count)
        age = f'queue:skiplane_queue_oldest_ready_age_seconds:max{{queue="{LEFT}"}}'
        self.prometheus.await_that(lambda: self.prometheus.query(f"{age} > 0"), lambda: age)
        self.assertLessEqual(self.value(age), time.time() - self.begin)
        self.await_value(
            f'queue:skiplane_queue_oldest_ready_age_seconds:max{{queue="{QUEUE}"}}', 0)

    def check_rates(self):
        for metric, wanted in (
                ('enqueued:rate5m{queue="mail",outcome="created"}', 2 + sum(ENQUEUED)),
                ('leased:rate5m{queue="mail",kind="first"}', 2 + sum(ENQUEUED)),
                ('finished:rate5m{queue="mail",outcome="succeeded"}', sum(ENQUEUED)),
                ('finished:rate5m{queue="mail",outcome="failed"}', 2)):
            # Prometheus extrapolates by up to an interval at both ends of what it has.
            done = self.value(f"queue:skiplane_tasks_{metric}") * WINDOW_S
            self.assertTrue(wanted <= round(done, 6) <= 1.5 * wanted, (metric, done))

    def check_percentiles(self):
        for name in ("wait", "run"):
            rule = f"queue:skiplane_task_{name}_seconds:quantile5m"
            found = self.prometheus.values(f'{rule}{{queue="{QUEUE}"}}', "quantile")
            self.assertLessEqual(found["0.5"], 5, (name, found))
            self.assertGreater(found["0.99"], 5, (name, found))


if __name__ == "__main__":
    unittest.main()
