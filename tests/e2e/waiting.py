"""Wait for states of a page. Every limit on waiting in the browser tests is here.

Prefer `expect` of Playwright, which looks again until the page is as expected. Never wait for a
fixed time: it is too short on a busy machine and too long on any other machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from playwright.sync_api import Error

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

# The limit is generous, because it only decides how long a failing test takes.
SECONDS = 60
# A loop inside the page. `page.wait_for_function` would evaluate text there, which the
# Content-Security-Policy forbids. A call that does not answer in time is repeated.
POLL = """async (deadline) => {
  const holds = %s;
  const rest = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
  let reason = "";
  while (Date.now() < deadline) {
    try {
      if (await Promise.race([holds(), rest(5_000)])) return null;
      reason = "";
    } catch (error) {
      reason = `: ${error}`;
    }
    await rest(30);
  }
  return `still false after the time limit${reason}`;
}"""
# Errors of evaluations that a navigation interrupts. The evaluation is repeated in the new page.
INTERRUPTED = ("context was destroyed", "Cannot find context", "because of a navigation")


def wait_until(page: Page, function: str, seconds: float = SECONDS) -> None:
    """Wait until the JavaScript function returns a true value, even if the page navigates.

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


def follow(link: Locator) -> None:
    """Click a link or a button that leads to another page, and wait until that page is loaded.

    `click` alone does not wait. The next step could then use elements of the new page before its
    modules have run.
    """
    with link.page.expect_navigation():
        link.click()
