"""The ground of the dashboard's tests: a broker that serves it, and a browser that looks at it."""

import unittest

from browser import place  # first: it leads to the modules below
from support.case import SystemTest
from support.http_case import ANY_PORT

# What must never run, and must be seen as it is written.
HOSTILE = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script>"
TURNED = "abc\u202egnp.exe"  # shown as if it ended in .png where nobody takes care


@unittest.skipUnless(place.is_there(), "no browser: deploy/install-packages browser")
class DashboardTest(SystemTest):
    flags = ("--auto-create-queues",)

    @classmethod
    def setUpClass(cls):
        from browser.chrome import Chrome  # pylint: disable=import-outside-toplevel
        cls.chrome = Chrome()
        cls.addClassCleanup(cls.chrome.quit)

    def setUp(self):
        super().setUp()
        self.broker = self.start_dashboard()
        self.client = self.client_of(self.broker)
        self.chrome.delete_all_cookies()
        self.chrome.set_size(place.WIDE)
        self.chrome.set_scheme("light")
        from browser.page import Page  # pylint: disable=import-outside-toplevel
        self.page = Page(self.chrome, address_of(self.broker))
        self.addCleanup(self.leave)

    def start_dashboard(self, http=ANY_PORT):
        return self.start_broker("--dashboard", *self.flags, http=http)

    def leave(self):
        """No page calls a broker that has ended; and nothing of a page was ever forbidden to run,
        nor ran though it was data."""
        ran = self.page.run("return window.ran")
        self.chrome.get("about:blank")
        complaints = self.chrome.complaints()
        self.assertIsNone(ran)
        self.assertEqual(complaints, [])

    def wait_until(self, is_so, what):
        self.page.until(is_so, what)


def address_of(broker):
    return f"http://{broker.http_address}/dashboard/"
