"""A bulk operation whose steps fail."""

import unittest

from support.case import SystemTest, slow
from support.client import admin_pb2, bulk_pb2, seconds

QUEUE = "failing"
FAILS_ALWAYS = """
CREATE FUNCTION public.fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'it fails';
END $$;
CREATE TRIGGER fails BEFORE UPDATE ON skiplane.task
FOR EACH STATEMENT EXECUTE FUNCTION public.fails()"""


@slow
class BulkFailure(SystemTest):
    def test_one_that_fails_is_tried_now_and_then_until_it_succeeds(self):
        """Each look at it began another row of tries, without an end."""
        broker, client = self.start()
        client.create_queue(QUEUE)
        client.enqueue(QUEUE)
        self.database.run(FAILS_ALWAYS)
        request = admin_pb2.StartBulkOperationRequest(
            filter=bulk_pb2.TaskFilter(queue=QUEUE, states=["TASK_STATE_READY"]),
            action=bulk_pb2.BulkAction(set_priority=9))
        begun = client.admin.StartBulkOperation(request, timeout=90).operation
        broker.wait_for_output(" bulk_step_failed ", times=3)
        tries = broker.output.count(" bulk_step_failed ")
        age = self.database.number("SELECT date_part('epoch', now() - create_time)::int8"
                                   " FROM skiplane.bulk_operation")
        self.assertLessEqual(tries, age / 5 + 2)
        self.database.run("DROP TRIGGER fails ON skiplane.task")
        done = client.admin.GetBulkOperation(admin_pb2.GetBulkOperationRequest(
            operation_id=begun.operation_id, wait=seconds(60)), timeout=90).operation
        self.assertEqual((done.state, done.changed_count),
                         (bulk_pb2.BULK_OPERATION_STATE_DONE, 1))


if __name__ == "__main__":
    unittest.main()
