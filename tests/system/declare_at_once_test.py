"""Schedules that many services declare at once, at two brokers."""

import concurrent.futures
import unittest

from support.by_http import ByHttp
from support.client import broker_pb2
from support.declare import HOUR, QUEUE, DeclareTest, declaration


class DeclareAtOnce(DeclareTest):
    def test_the_last_of_two_declarations_in_one_call_counts(self):
        for period, outcome in ((600, "CREATED"), (700, "REPLACED")):
            with self.subTest(outcome=outcome):
                results = self.client.enqueue_all(QUEUE, [
                    declaration(b"one", period=period), declaration(b"two", period=period + 1)])
                self.assertEqual([broker_pb2.EnqueueOutcome.Name(result.outcome)
                                  for result in results],
                                 ["ENQUEUE_OUTCOME_EXISTING", f"ENQUEUE_OUTCOME_{outcome}"])
                self.assertEqual(self.view(results[0].task_id).payload, b"two")

    def test_two_brokers_take_turns(self):
        other = self.client_of(self.start_broker())
        task_id = self.first_run()
        for number, client in enumerate((other, self.client, other)):
            period = (number + 2) * HOUR
            before = self.now()
            self.assertEqual(self.declare(period=period, client=client), ("REPLACED", task_id))
            for same in (self.client, other):
                self.assertEqual(self.declare(period=period, client=same), ("EXISTING", task_id))
            self.assert_between(self.planned(task_id), before, period)

    def test_a_waiting_worker_at_another_broker_is_woken_by_the_new_time(self):
        other = self.client_of(self.start_broker())
        task_id = self.first_run()
        parked = other.lease_later(QUEUE)
        self.assertEqual(self.declare(period=1), ("REPLACED", task_id))
        self.assertEqual(parked.result().tasks[0].task_id, task_id)

    def test_the_same_declaration_a_hundred_times_at_once_makes_one_task(self):
        clients = [self.client, self.client_of(self.start_broker())]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(self.declare, client=clients[n % 2]) for n in range(100)]
            results = [call.result() for call in calls]
        self.assertEqual(len({task_id for _, task_id in results}), 1)
        self.assertEqual(sorted(outcome for outcome, _ in results),
                         ["CREATED"] + ["EXISTING"] * 99)
        self.client.ack(self.take())
        self.assert_idle()

    def test_many_services_that_declare_other_things_at_once_end_with_one_of_them(self):
        clients = [self.client, self.client_of(self.start_broker())]
        keys = [f"k{number}" for number in range(20)]

        def declare_all(number):
            order = keys[number:] + keys[:number]
            tasks = [declaration(b"%d" % number, period=HOUR + number, key=key) for key in order]
            clients[number % 2].enqueue_all(QUEUE, tasks)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for call in [pool.submit(declare_all, number % 16) for number in range(48)]:
                call.result()
        self.assertEqual(self.database.number("SELECT count(*) FROM skiplane.task"), len(keys))
        self.assertEqual(self.database.number(
            "SELECT count(*) FROM skiplane.task WHERE period = (3600 +"
            " convert_from(payload, 'UTF8')::int) * 1000000::int8"), len(keys))


class DeclareAtOnceByHttp(ByHttp, DeclareAtOnce):
    pass


if __name__ == "__main__":
    unittest.main()
