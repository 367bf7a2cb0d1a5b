"""The settings of a queue's stages."""

import unittest

from browser.case import DashboardTest
from support.client import queue_pb2

FIRST, SECOND = "//*[@aria-label='Stage 1']", "//*[@aria-label='Stage 2']"
OWN_RETRY = {"kind": "RETRY_KIND_FIXED", "base_delay": {"seconds": 7}, "max_attempts": 4}


class StageSettings(DashboardTest):
    def setUp(self):
        super().setUp()
        self.client.create_queue("mail", retry={"base_delay": {"seconds": 90}, "max_attempts": 6},
                                 stages=[{"name": "fetch"}, {"name": "send", "retry": OWN_RETRY}])
        self.page.open("queues/mail/settings")
        self.page.wait_for("Retries of its own")

    def stages(self):
        return list(self.client.queue("mail").settings.stages)

    def save(self):
        self.page.click("Save")
        self.page.wait_for("are saved", ".notices")

    def value(self, label, stage):
        return self.page.field(label, stage).get_attribute("value")

    def test_all_retries_of_a_stage_are_changed(self):
        before = self.stages()[0]
        self.page.choose("Kind", "table", SECOND)
        for label, text in (("Attempts", "5"), ("First delay", "8s"), ("Longest delay", "2h"),
                            ("Factor", "3.5"), ("Jitter", "0.25"),
                            ("Table of delays", "1s, 1m 30s"), ("Lease duration", "45s")):
            self.page.fill(label, text, SECOND)
        self.save()
        self.assertEqual(self.stages(), [before, queue_pb2.Stage(
            name="send", lease_duration={"seconds": 45}, retry={
                "kind": "RETRY_KIND_TABLE", "max_attempts": 5, "base_delay": {"seconds": 8},
                "max_delay": {"seconds": 7200}, "factor": 3.5, "jitter": 0.25,
                "delays": [{"seconds": 1}, {"seconds": 90}]})])

    def test_a_stage_gets_retries_of_its_own_and_gives_them_up(self):
        self.page.field("Retries of its own", FIRST).click()
        self.assertEqual((self.value("First delay", FIRST), self.value("Attempts", FIRST)),
                         ("1m 30s", "6"))  # it begins with those of the queue
        self.page.fill("Attempts", "2", FIRST)
        self.page.field("Retries of its own", SECOND).click()
        self.save()
        first, second = self.stages()
        self.assertEqual((first.retry.max_attempts, first.retry.base_delay.seconds,
                          second.HasField("retry")), (2, 90, False))

    def test_what_cannot_be_read_is_told_at_the_field_of_its_stage(self):
        self.page.fill("First delay", "soon", SECOND)
        self.page.click("Save")
        self.page.wait_for("“soon” is not a duration")
        self.assertEqual(self.page.field("First delay", SECOND).get_attribute("aria-invalid"),
                         "true")
        self.page.fill("First delay", "10s", SECOND)
        self.page.fill("Jitter", "0.9", SECOND)
        self.page.click("Save")
        self.page.wait_for("INVALID_FIELD", ".failure")
        self.assertEqual((self.value("First delay", SECOND), self.value("Jitter", SECOND)),
                         ("10s", "0.9"))

    def test_a_stage_that_somebody_else_changed_is_not_overwritten(self):
        self.page.fill("Attempts", "9", SECOND)
        self.client.update_queue("mail", stages=[
            {"name": "download"}, {"name": "send", "retry": {**OWN_RETRY, "jitter": 0.5}},
            {"name": "report"}])
        self.page.wait_for("Somebody changed this queue since you began.")
        self.page.click("Save")
        self.page.wait_for("Nothing was saved.")
        self.page.click("Load the new settings, keep my changes")
        self.assertEqual((self.value("Attempts", SECOND), self.value("Jitter", SECOND)),
                         ("9", "0.5"))
        self.save()
        stages = self.stages()
        self.assertEqual([stage.name for stage in stages], ["download", "send", "report"])
        self.assertEqual((stages[1].retry.max_attempts, stages[1].retry.jitter), (9, 0.5))


if __name__ == "__main__":
    unittest.main()
