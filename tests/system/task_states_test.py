"""Each transition between the states of a task happens as documents and steps name it."""

import time
import unittest

import grpc

from support.case import SystemTest
from support.client import seconds
from support.process import GENEROUS_S
from support.task_states import STEPS, Scene

NONE = "[*]"


class TaskStates(SystemTest):
    def setUp(self):
        super().setUp()
        # How often hanging attempts are looked for follows from the limits at the look before.
        other, client = self.start()
        client.create_queue("warm", max_run_duration=seconds(1))
        other.terminate()
        self.broker, self.client = self.start()

    def state(self, task_id):
        try:
            return self.client.state(task_id) if task_id else NONE
        except grpc.RpcError as error:
            self.assertEqual(error.code(), grpc.StatusCode.NOT_FOUND)
            return NONE

    def wait_for(self, task_id, state):
        end = time.monotonic() + GENEROUS_S
        while (found := self.state(task_id)) != state:
            self.assertLess(time.monotonic(), end, f"{found}, not {state}")

    def test_each_transition_leads_from_its_state_to_its_state(self):
        runs = []
        for number, ((before, after, cause), step) in enumerate(STEPS.items()):
            name = f"{before} --> {after}: {cause}"
            run = step(Scene(self.client, self.database, f"q{number}"))
            with self.subTest(name):
                task_id = next(run)
                self.assertEqual(self.state(task_id), before)
                runs.append((name, next(run, task_id), after))
        for name, task_id, after in runs:
            with self.subTest(name):
                self.wait_for(task_id, after)


if __name__ == "__main__":
    unittest.main()
