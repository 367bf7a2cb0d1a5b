"""A Chromium without a window, with a profile of its own."""

import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

from browser.place import CHROMIUM, DRIVER, WIDE

FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-extensions", "--hide-scrollbars")


class Chrome(webdriver.Chrome):
    def __init__(self):
        self._profile = tempfile.TemporaryDirectory(prefix="skiplane-chromium-")
        options = Options()
        options.binary_location = CHROMIUM
        for flag in (*FLAGS, f"--user-data-dir={self._profile.name}",
                     f"--window-size={WIDE[0]},{WIDE[1]}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        super().__init__(service=Service(DRIVER), options=options)
        self.set_size(WIDE)

    def set_size(self, size):
        self.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False})

    def set_scheme(self, scheme):
        """"light" or "dark"."""
        self.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}]})

    def complaints(self):
        """What the browser itself found wrong since the last question, such as scripts that the
        content security policy forbids. Refusals of calls are none."""
        return [entry["message"] for entry in self.get_log("browser")
                if entry["level"] == "SEVERE" and entry["source"] != "network"]

    def quit(self):
        try:
            super().quit()
        finally:
            self._profile.cleanup()
