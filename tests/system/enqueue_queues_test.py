"""One Enqueue for several queues: one commit, all or none, each task where it belongs."""

import concurrent.futures
import unittest

import grpc

from support.by_http import ByHttp
from support.case import SystemTest, slow
from support.client import broker_pb2, fields_of, new_id, queue_pb2, seconds

QUEUES = [f"q{number}" for number in range(64)]


def tasks_of(queues, **fields):
    return [broker_pb2.NewTask(queue=queue, payload=queue.encode(), **fields) for queue in queues]


@slow
class EnqueueQueues(SystemTest):
    def setUp(self):
        super().setUp()
        self.broker, self.client = self.start()

    def create(self, *queues):
        for queue in queues:
            self.client.create_queue(queue)

    def tasks(self):
        return self.database.number("SELECT count(*) FROM skiplane.task")

    def assert_put_refused(self, code, reason, field, tasks, queue="", **fields):
        error = self.assert_refused(code, reason, self.client.enqueue_all, queue, tasks, **fields)
        self.assertEqual(fields_of(error), [field])
        self.assertEqual(self.tasks(), 0)

    def test_sixty_four_queues_get_their_tasks_in_one_commit(self):
        self.create(*QUEUES)
        order = QUEUES[::-1] + QUEUES
        results = self.client.enqueue_all("", tasks_of(order))
        self.assertEqual(len({result.task_id for result in results}), len(order))
        self.assertEqual(self.database.number("SELECT count(DISTINCT xmin::text)"
                                              " FROM skiplane.task"), 1)
        for place, queue in enumerate(QUEUES):
            leased = self.client.lease(queue, max_tasks=10)
            wanted = [results[63 - place].task_id, results[64 + place].task_id]
            self.assertEqual([task.task_id for task in leased], wanted)
            self.assertEqual([task.payload for task in leased], [queue.encode()] * 2)
            self.assertEqual(self.client.queue(queue).counts.leased_count, 2)
        page = self.broker.metrics()
        for queue in QUEUES[:3]:
            name = f'skiplane_tasks_enqueued_total{{outcome="created",queue="{queue}"}}'
            self.assertEqual(page[name], 2)

    def test_sixty_five_are_refused(self):
        self.create(*QUEUES)
        self.assert_put_refused("INVALID_ARGUMENT", "INVALID_FIELD", "tasks[65].queue",
                                tasks_of(QUEUES + ["q1", "one-more"]))
        self.assertEqual(len(self.client.enqueue_all("q0", tasks_of(QUEUES[1:] + [""]))), 64)

    def test_tasks_without_a_queue_go_to_the_requests(self):
        self.create("a", "b")
        self.client.enqueue_all("a", tasks_of(["", "b", ""]))
        self.assertEqual([self.client.queue(queue).counts.ready_count for queue in "ab"], [2, 1])

    def test_one_queue_is_the_same_wherever_it_is_named(self):
        self.create("a")
        request_id = new_id()
        [first] = self.client.enqueue_all("a", [broker_pb2.NewTask()], request_id)
        for queue in ("a", "", "unused"):
            [again] = self.client.enqueue_all(queue, [broker_pb2.NewTask(queue="a")], request_id)
            self.assertEqual(again.task_id, first.task_id)
        self.assertEqual(self.tasks(), 1)

    def test_keys_stages_and_schedules_are_those_of_each_queue(self):
        self.create("a")
        self.client.create_queue("b", lane_count=4, stages=[
            queue_pb2.Stage(name="x"),
            queue_pb2.Stage(name="y", retry=queue_pb2.RetryPolicy(max_attempts=3))])
        tasks = [broker_pb2.NewTask(queue="a", key="k"), broker_pb2.NewTask(queue="b", key="k"),
                 broker_pb2.NewTask(queue="b", stage="y"),
                 broker_pb2.NewTask(queue="a", period=seconds(60))]
        results = self.client.enqueue_all("", tasks)
        self.assertEqual(len({result.task_id for result in results}), 4)
        self.assertEqual([self.client.task(result.task_id).max_attempts for result in results],
                         [10, 10, 3, 10])
        again = self.client.enqueue_all("", tasks[:2])
        self.assertEqual([(result.task_id, result.outcome) for result in again],
                         [(result.task_id, broker_pb2.ENQUEUE_OUTCOME_EXISTING)
                          for result in results[:2]])
        self.assert_refused("INVALID_ARGUMENT", "INVALID_FIELD", self.client.enqueue_all, "",
                            [broker_pb2.NewTask(queue="b", stage="y"),
                             broker_pb2.NewTask(queue="a", stage="y")])

    def test_one_held_key_refuses_all(self):
        self.create("a", "b")
        held = self.client.enqueue("b", key="k")
        [task] = self.client.lease("b")
        self.client.ack(task)
        error = self.assert_refused(
            "ALREADY_EXISTS", "KEY_EXISTS", self.client.enqueue_all, "",
            [broker_pb2.NewTask(queue="a"),
             broker_pb2.NewTask(queue="b", key="k", key_policy="KEY_POLICY_REJECT")])
        self.assertEqual(fields_of(error), ["tasks[1].key"])
        self.assertIn(held, error.details())
        self.assertEqual(self.tasks(), 0)

    def test_one_queue_that_is_missing_or_paused_refuses_all(self):
        self.create("a", "b")
        self.assert_put_refused("NOT_FOUND", "QUEUE_NOT_FOUND", "tasks[3].queue",
                                tasks_of(["a", "b", "a", "missing", "missing"]))
        self.assert_put_refused("NOT_FOUND", "QUEUE_NOT_FOUND", "tasks[0].queue",
                                tasks_of(["missing", "missing"]))
        self.assert_put_refused("NOT_FOUND", "QUEUE_NOT_FOUND", "queue", tasks_of(["a", ""]),
                                queue="missing")
        self.client.pause("b", "ENQUEUE")
        self.assert_put_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", "tasks[2].queue",
                                tasks_of(["a", "a", "b"]))
        self.assert_put_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", "tasks[0].queue",
                                tasks_of(["b"]))
        self.assert_put_refused("FAILED_PRECONDITION", "QUEUE_PAUSED", "queue",
                                tasks_of(["a", ""]), queue="b")

    def test_bad_names_and_tasks_are_named(self):
        self.create("a")
        self.client.create_queue("small", max_payload_bytes=1)
        for tasks, field in ((tasks_of(["a", "no name!"]), "tasks[1].queue"),
                             (tasks_of(["a", ""]), "tasks[1].queue"),
                             (tasks_of(["a", "small"]), "tasks[1].payload"),
                             (tasks_of(["small", "a"], cron="61 * * * *"), "tasks[0].cron"),
                             ([broker_pb2.NewTask()], "queue")):
            with self.subTest(field=field):
                if field == "tasks[0].cron":
                    for task in tasks:
                        task.payload = b""
                self.assert_put_refused("INVALID_ARGUMENT", "INVALID_FIELD", field, tasks)
        self.assert_put_refused("INVALID_ARGUMENT", "INVALID_FIELD", "queue", tasks_of(["a"]),
                                queue="no name!")

    def test_missing_queues_are_all_created_if_the_broker_does_that(self):
        client = self.client_of(self.start_broker("--auto-create-queues"))
        client.enqueue_all("c", tasks_of(["a", "b", ""]))
        self.assertEqual([client.queue(queue).counts.ready_count for queue in "abc"], [1, 1, 1])

    def test_a_request_id_covers_the_whole_call_on_every_broker(self):
        self.client.create_queue("a", lane_count=3)
        self.client.create_queue("b", lane_count=5)
        other = self.client_of(self.start_broker())
        tasks = tasks_of(["a", "b", "b"]) + tasks_of(["a"], key="k")
        request_id = new_id()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            calls = [pool.submit(client.enqueue_all, "", tasks, request_id)
                     for client in [self.client, other] * 4]
            answers = [[(result.task_id, result.outcome) for result in call.result()]
                       for call in calls]
        self.assertEqual(answers, [answers[0]] * 8)
        self.assertEqual(self.tasks(), 4)
        self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", other.enqueue_all, "",
                            tasks[:1] + tasks_of(["a", "b"]), request_id)
        self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", other.enqueue_all, "",
                            tasks[1:] + tasks[:1], request_id)
        self.assertEqual(self.tasks(), 4)

    def test_a_repeat_may_name_the_same_queues_in_another_place(self):
        self.create("a", "b")
        request_id = new_id()
        first = self.client.enqueue_all("a", [broker_pb2.NewTask(queue=queue)
                                              for queue in ("", "b")], request_id)
        for queue, queues in (("", "ab"), ("b", ("a", "")), ("unused", "ab")):
            again = self.client.enqueue_all(queue, [broker_pb2.NewTask(queue=own)
                                                    for own in queues], request_id)
            self.assertEqual([result.task_id for result in again],
                             [result.task_id for result in first])
        self.assert_refused("ALREADY_EXISTS", "REQUEST_ID_REUSED", self.client.enqueue_all, "b",
                            [broker_pb2.NewTask(queue=queue) for queue in ("", "a")], request_id)
        self.assertEqual(self.tasks(), 2)

    def test_a_waiting_worker_of_each_queue_is_woken_here_and_elsewhere(self):
        queues = ["a", "b", "c", "d"]
        self.create(*queues)
        other = self.start_broker()
        elsewhere = self.client_of(other)
        parked = [self.park(self.broker, self.client, queue) for queue in queues[:2]]
        parked += [self.park(other, elsewhere, queue) for queue in queues[2:]]
        results = self.client.enqueue_all("", tasks_of(queues))
        self.assertEqual([call.result().tasks[0].task_id for call in parked],
                         [result.task_id for result in results])

    def test_calls_for_other_orders_of_the_same_keys_meet_no_deadlock(self):
        self.create("a", "b", "c")
        clients = [self.client, self.client_of(self.start_broker())]

        def put(number):
            queues = ["a", "b", "c"][number % 3:] + ["a", "b", "c"][:number % 3]
            tasks = [broker_pb2.NewTask(queue=queue, key=f"k{key}", payload=b"%d" % number,
                                        key_policy="KEY_POLICY_REPLACE_WAITING")
                     for queue in queues for key in range(10)]
            return clients[number % 2].enqueue_all("", tasks)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for call in [pool.submit(put, number) for number in range(40)]:
                self.assertEqual(len(call.result()), 30)
        self.assertEqual(self.tasks(), 30)

    def test_a_broker_that_is_killed_leaves_all_of_a_call_or_nothing(self):
        self.create(*QUEUES)
        for with_request_id in (False, True):
            with self.subTest(with_request_id=with_request_id):
                broker = self.start_broker()
                client = self.client_of(broker)
                request_id = new_id() if with_request_id else ""
                request = broker_pb2.EnqueueRequest(tasks=tasks_of(QUEUES), request_id=request_id)
                hold = self.database.hold_writes()
                call = client.broker.Enqueue.future(request, timeout=60)
                self.database.wait_for_lock_wait()
                broker.kill()
                hold.release()
                with self.assertRaises(grpc.RpcError):
                    call.result()
                self.database.eventually(
                    "SELECT count(*) = 0 FROM pg_stat_activity WHERE state = 'active' AND"
                    " application_name LIKE 'skiplaned%' AND datname = current_database()")
                made = self.tasks()
                self.assertIn(made, (0, 64))
                if with_request_id:
                    self.client.enqueue_all("", request.tasks, request_id)
                    self.assertEqual(self.tasks(), 64)
                self.database.run("DELETE FROM skiplane.task")


class EnqueueQueuesByHttp(ByHttp, EnqueueQueues):
    pass


if __name__ == "__main__":
    unittest.main()
