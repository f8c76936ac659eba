"""What leaves the dashboard, in a browser: a link opens on another page, files arrive, and races are shown again."""

import zipfile
from functools import partial
from pathlib import Path

import pytest
from _browser import App, Pages

pytestmark = pytest.mark.browser


def test_what_is_copied_without_encryption_can_be_pasted_and_a_page_is_printed_whole(raced: App) -> None:
    app = raced
    page = app.page
    page.get_by_role("button", name="Remove the Gaussian kernels").first.wait_for()  # what × is called
    page.get_by_role("tab", name="Share").click()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.locator(".code", has_text="import mklviz as mv").get_by_role("button", name="Copy").click()
    page.get_by_role("button", name="Copied").wait_for()
    page.evaluate("document.body.prepend(Object.assign(document.createElement('textarea'), { id: 'paste' }))")
    page.locator("#paste").focus()
    page.keyboard.press("Control+V")
    app.until(lambda: page.locator("#paste").input_value().startswith("import mklviz as mv"), "the program, pasted")
    page.get_by_role("tab", name="Race", exact=True).click()
    page.emulate_media(media="print")
    app.until(
        lambda: not page.get_by_role("tablist").is_hidden() and app.button("Run").first.is_hidden(), "no controls"
    )
    figures = page.locator(".bk-Figure")
    below = app.still(
        lambda: [box["y"] for figure in figures.all() if (box := figure.bounding_box()) and figure.is_visible()],
        "the figures on paper",
    )
    assert max(below) > 0
    height = "document.documentElement.scrollHeight"
    app.until(lambda: page.evaluate(height) > max(below), "a page that is not cut off below the window")
    page.emulate_media(media="screen")
    page.evaluate("document.querySelector('#paste').remove()")


def test_a_link_opens_set_up_tab_and_locks(raced: App, pages: Pages) -> None:
    app = raced
    app.page.get_by_role("tab", name="Share").click()
    app.page.get_by_role("checkbox", name="set-up locked").check()
    app.choose("opens at", "Timeline")
    link = app.page.locator("p.link a").last
    href = partial(link.get_attribute, "href")
    app.until(lambda: all(word in str(href()) for word in ("lock=all", "tab=timeline")), "the link")
    address = link.get_attribute("href").replace("/_served?", "/explorer?")
    opened = pages.open(address).page
    opened.get_by_role("tab", name="Timeline", selected=True).wait_for()
    opened.get_by_text("Press Run first: the timeline").wait_for()  # the words that stand alone in a tab
    opened.get_by_text("Locked by the link: scenario, data, kernels").wait_for()
    app.until(lambda: opened.locator(".group[inert]").count() == 6, "the groups that are locked")
    assert "data%3Dheart" in address


def test_files_of_a_race_arrive_and_open_again(raced: App, tmp_path: Path) -> None:  # the last: they take its place
    app = raced
    app.page.get_by_role("tab", name="Share").click()
    for button, ending in (("Page (HTML)", "html"), ("Runs (zip)", "zip")):
        with app.page.expect_download() as download:
            app.press(button)
        download.value.save_as(tmp_path / f"race.{ending}")
    assert "<h1>A race on Heart</h1>" in (tmp_path / "race.html").read_text(encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "race.zip") as archive:
        assert sorted(archive.namelist()) == ["level.mklrun.npz", "silp.mklrun.npz", "spg.mklrun.npz"]
    app.page.get_by_role("tab", name="Runs").click()
    app.page.get_by_text("Open a file of runs").wait_for()
    app.page.locator("input[type=file]:not([multiple])").last.set_input_files(tmp_path / "race.zip")
    race_tab = app.page.get_by_role("tab", name="Race")
    app.until(lambda: race_tab.get_attribute("aria-selected") == "true", "the race of the file in the tabs")
    app.until_finished()
    app.page.get_by_role("tab", name="Runs").click()
    app.page.get_by_role("listitem").filter(has_text="SPG").first.wait_for()
