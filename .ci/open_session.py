"""Open the dashboard at the given address in the given browser, run a race to its end, and fail at any error."""

import sys
import time

from playwright.sync_api import Page, sync_playwright

PATIENCE = 600.0  # seconds, for a server that still has everything to compile, beside other tests


def main(address: str, browser: str) -> None:
    errors: list[str] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page()
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        _open(page, address)
        page.locator("button:visible").filter(has_text="Run").first.click(timeout=1e3 * PATIENCE)
        status = page.get_by_role("status").first
        deadline = time.monotonic() + PATIENCE
        while "finished." not in status.inner_text():
            assert time.monotonic() < deadline, f"The race has not ended: {status.inner_text()}"
            page.wait_for_timeout(200)
        print(status.inner_text())
        chromium.close()
    assert not errors, errors


def _open(page: Page, address: str) -> None:
    """Open the page as soon as the server answers."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            page.goto(address)
            break
        except Exception:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.5)
    page.get_by_role("status").first.wait_for(timeout=1e3 * PATIENCE)


main(*sys.argv[1:])
