"""What a person does at the dashboard, and sees there."""

from selenium.common.exceptions import (ElementClickInterceptedException,
                                        StaleElementReferenceException, WebDriverException)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from support.process import GENEROUS_S

LOOK_S = 0.05


def quoted(text):
    """A text as XPath writes it."""
    return '"' + text + '"' if '"' not in text else "'" + text + "'"


class Page:
    def __init__(self, chrome, address):
        self.chrome, self.address = chrome, address

    def open(self, place=""):
        self.chrome.get(self.address + place)
        self.until(lambda: self.find("h1") or self.find("dialog[open]"), "a page is shown")

    def place(self):
        """The address below that of the dashboard."""
        return self.chrome.current_url.removeprefix(self.address)

    def until(self, is_so, what):
        """What `is_so` answers as soon as that is true; elements may change meanwhile."""
        ignored = [ElementClickInterceptedException, StaleElementReferenceException]
        wait = WebDriverWait(self.chrome, GENEROUS_S, LOOK_S, ignored)
        try:
            return wait.until(lambda _: is_so())
        except WebDriverException as error:
            raise AssertionError(f"not so: {what}\n{self.text()}") from error

    def run(self, script, *arguments):
        return self.chrome.execute_script(script, *arguments)

    def text(self, selector="body"):
        """What is seen; without what is closed or hidden."""
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def wait_for(self, text, selector="body"):
        self.until(lambda: text in self.text(selector), f"{text!r} in {selector}")

    def wait_until_gone(self, text, selector="body"):
        self.until(lambda: text not in self.text(selector), f"no {text!r} in {selector}")

    def find(self, selector):
        return self.chrome.find_elements(By.CSS_SELECTOR, selector)

    def count(self, selector):
        return len(self.find(selector))

    def _named(self, tag, name, within):
        """Elements that are seen and begin with that name."""
        path = f"{within}//{tag}[starts-with(normalize-space(.), {quoted(name)})]"
        return [one for one in self.chrome.find_elements(By.XPATH, path) if one.is_displayed()]

    def has(self, tag, name, within=""):
        return bool(self._named(tag, name, within))

    def click(self, name, tag="button", within=""):
        self.until(lambda: self.click_now(name, tag, within), f"a {tag} {name!r} to click")

    def click_now(self, name, tag="button", within=""):
        """Whether there is such a thing now; it has been clicked then."""
        found = self._named(tag, name, within)
        if not found or not found[0].is_enabled():
            return False
        found[0].click()
        return True

    def confirm(self, name):
        """Presses a button of the dialog that is open, and waits until that is closed."""
        self.click(name, within="//dialog[@open]")
        self.until(lambda: not self.find("dialog[open]"), "the dialog is closed")

    def field(self, label, within=""):
        def found():
            path = f"{within}//label[normalize-space(.)={quoted(label)}]"
            labels = [one for one in self.chrome.find_elements(By.XPATH, path)
                      if one.is_displayed()]
            return labels and self.chrome.find_element(By.ID, labels[0].get_attribute("for"))
        return self.until(found, f"a field {label!r}")

    def fill(self, label, text, within=""):
        """By keyboard. Dates are put: their fields take them by parts."""
        field = self.field(label, within)
        if field.get_attribute("type") == "datetime-local":
            self.run("arguments[0].value = arguments[1];"
                     "arguments[0].dispatchEvent(new Event('input', {bubbles: true}))", field, text)
            return
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text or Keys.DELETE)

    def press_enter_at(self, selector):
        self.find(selector)[0].send_keys(Keys.ENTER)

    def choose(self, label, option, within=""):
        field = self.field(label, within)
        self.until(lambda: self._choose(field, option), f"{option!r} of {label!r}")

    def _choose(self, field, option):
        for one in field.find_elements(By.TAG_NAME, "option"):
            if one.text == option:
                one.click()
                return True
        return False

    def check(self, label):
        self.field(label).click()

    def rows(self, label):
        """The texts of a table's cells, row by row."""
        return self.run("""
            const table = document.querySelector(`[aria-label="${arguments[0]}"] table`);
            return [...(table?.tBodies[0].rows ?? [])].map(
              (row) => [...row.cells].map((cell) => cell.innerText.trim()));""", label)

    def row(self, label, name):
        """The cells of the row that has this cell."""
        return next((row for row in self.rows(label) if name in row), None)

    def wait_for_row(self, label, name):
        return self.until(lambda: self.row(label, name), f"a row {name!r} of {label!r}")
