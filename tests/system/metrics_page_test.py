"""The metrics page of a whole broker: what it says of itself, of attempts and of the disk, and for
which queues."""

import time
import unittest

from support import broker as brokers
from support.case import SystemTest
from support.client import broker_pb2
from support.process import GENEROUS_S
from support.stream import Producer, Worker

PAUSED = 'skiplane_queue_paused{mode="lease",queue="%s"}'
OTHER = "__other__"


class MetricsPage(SystemTest):
    def test_a_broker_that_lost_its_database_is_not_ready_and_says_why(self):
        broker, _ = self.start()
        page = broker.metrics()
        self.assertEqual((page["skiplane_ready"], page["skiplane_db_up"]), (1, 1))
        self.database.refuse_writes()
        with brokers.grpc.insecure_channel(broker.address) as channel:
            next(status for status in brokers.watch(channel) if status == brokers.NOT_SERVING)
        page = broker.metrics()
        self.assertEqual((page["skiplane_ready"], page["skiplane_db_up"]), (0, 0))
        self.database.take_writes()

    def test_attempts_tell_how_long_they_ran_and_tables_how_large_they_are(self):
        broker, client = self.start()
        client.create_queue("mail")
        client.enqueue("mail")
        before = time.monotonic()
        [task] = client.lease("mail")
        client.ack(task)
        ran_most = time.monotonic() - before
        page = broker.metrics()
        self.assertEqual(page['skiplane_task_run_seconds_count{queue="mail"}'], 1)
        # The database's clock gave both ends, between the two calls.
        self.assertGreater(page['skiplane_task_run_seconds_sum{queue="mail"}'], 0)
        self.assertLess(page['skiplane_task_run_seconds_sum{queue="mail"}'], ran_most)
        page = self.wait_for_page(
            broker, lambda page: 'skiplane_db_table_bytes{part="rows",table="history"}' in page)
        self.assertGreater(page["skiplane_db_bytes"], 1 << 20)

    def test_open_streams_and_the_credit_that_waits(self):
        broker, client = self.start("--auto-create-queues")
        worker = Worker(client, "mail", credit=5)
        worker.wait_for_welcome()
        producer = Producer(client)
        [number] = producer.enqueue(broker_pb2.EnqueueRequest(
            queue="mail", tasks=[broker_pb2.NewTask()]))
        producer.answer(number)
        worker.take()
        page = broker.metrics()
        self.assertEqual([page['skiplane_streams{kind="work"}'],
                          page['skiplane_streams{kind="produce"}'],
                          page["skiplane_stream_credit"]], [1, 1, 4])
        worker.break_off()
        producer.break_off()
        self.wait_for_page(broker, lambda page: page["skiplane_stream_credit"] == 0
                           and page['skiplane_streams{kind="work"}'] == 0
                           and page['skiplane_streams{kind="produce"}'] == 0)

    def wait_for_page(self, broker, is_wanted):
        """The first page that is as wanted."""
        end = time.monotonic() + GENEROUS_S
        while not is_wanted(page := broker.metrics()):
            self.assertLess(time.monotonic(), end, f"no such page in {GENEROUS_S} s:\n{page}")
        return page

    def test_with_too_many_queues_the_listed_ones_have_names(self):
        self.start_broker().terminate()
        self.database.run("INSERT INTO skiplane.queue (name, settings)"
                          " SELECT 'q' || i, '{}' FROM generate_series(1, 1010) i;"
                          " INSERT INTO skiplane.queue_lane (queue_id, ordinal)"
                          " SELECT id, 0 FROM skiplane.queue")
        broker = self.start_broker("--metrics-queue=q998", "--metrics-queue=q99?")
        page = self.wait_for_page(broker, lambda page: sum(
            name.startswith("skiplane_queue_paused{") for name in page) >= 2 * 1001)
        self.assertIn(PAUSED % "q999", page)
        self.assertIn(PAUSED % "q998", page)
        self.assertNotIn(PAUSED % "q989", page)
        self.assertIn(PAUSED % OTHER, page)


if __name__ == "__main__":
    unittest.main()
