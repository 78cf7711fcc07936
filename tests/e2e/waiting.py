"""Wait for states of a page. Every limit on waiting in the browser tests is here."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from playwright.sync_api import Error

if TYPE_CHECKING:
    from playwright.sync_api import Page

# Generous: it only decides how long a test that fails takes to fail.
SECONDS = 30
# The page does the waiting itself: `page.wait_for_function` evaluates text inside the page, which
# the Content-Security-Policy forbids.
POLL = """async (deadline) => {
  const holds = %s;
  let reason = "";
  while (Date.now() < deadline) {
    try {
      if (await holds()) return null;
      reason = "";
    } catch (error) {
      reason = String(error);
    }
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
  return `not so after the time limit ${reason}`;
}"""
# Evaluations that a navigation interrupts end with one of these; the new page may fulfil them.
INTERRUPTED = ("context was destroyed", "Cannot find context", "because of a navigation")


def wait_until(page: Page, function: str, seconds: float = SECONDS) -> None:
    """Wait until the JavaScript function returns something true, also across navigations.

    A function that raises, for example because an element is not there yet, is called again.
    """
    deadline = time.time() + seconds
    while True:
        try:
            failure = page.evaluate(POLL % function, deadline * 1000)
        except Error as error:
            if not any(words in error.message for words in INTERRUPTED):
                raise
        else:
            if failure is None:
                return
            raise AssertionError(f"{failure}: {function}")
        page.wait_for_load_state("domcontentloaded")
