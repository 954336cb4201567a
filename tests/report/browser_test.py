"""The report's page in a browser: browser_test.py MAKE_RUN KBENCH [FOLDER FOR SCREENSHOTS]

Exit code 77, with the reason, where no Chromium is installed.
"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import browser  # noqa: E402
import needs  # noqa: E402


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def opened(page):
    return page.eval("document.getElementById('detail').open")


def check_tasks(page, models):
    """The plots of speedups and of the roofline, and the table that sorts and filters."""
    correct = page.eval("correct.length")
    check(correct == page.eval("data.cells.filter(worthOf).length") > 0, f"{correct} candidates are correct")
    check(page.eval("document.querySelectorAll('#speedups .point').length") == correct, "a mark for each")
    check(page.eval("document.querySelectorAll('#speedups .point .span').length") == correct, "with its interval")
    check(page.eval("document.querySelectorAll('#charts .point').length") == correct, "a place for each under the roof")
    check(2 < page.eval("logAxis([5e-324, 1, 1e308]).ticks.length") < 9, "ticks for all that a forged file may hold")
    page.eval("document.querySelector('#speedups .point').dispatchEvent(new MouseEvent('click'))")
    check(opened(page), "a mark opens what stands behind it")
    page.key("Escape")

    rows = "[...document.querySelectorAll('#tasks tbody tr')].filter(row => !row.hidden)"
    column = "[...document.querySelectorAll('#tasks thead th')].findIndex(head => head.textContent === '%s')"
    check(page.eval(rows + ".length") == page.eval("data.cells.length"), "a row for each task and model")
    for head, order in (("speedup", "descending"), ("speedup", "ascending")):
        page.eval(f"document.querySelectorAll('#tasks thead button')[{column % head}].focus()")
        page.key("Enter")
        check(page.eval("document.activeElement.parentNode.ariaSort") == order, f"{head} is sorted, {order}")
        texts = page.eval(f"{rows}.map(row => row.children[{column % head}].textContent)")
        values = [float(text[:-1]) for text in texts if text != "–"]
        check(values == sorted(values, reverse=order == "descending") and len(values) == correct, f"{head}: {texts}")
        check(texts[correct:] == ["–"] * (len(texts) - correct), "what is not known comes last")

    def choose(place, value):
        page.eval(f"(() => {{ const node = document.querySelectorAll('#tasks input, #tasks select')[{place}];"
                  f" node.value = '{value}'; node.dispatchEvent(new Event('input')); }})()")
        return page.eval(rows + ".length")

    name = page.eval("data.tasks[0][0]")
    check(choose(0, name.upper() + "  square") == models, "a name is found, in capitals too")
    check(choose(0, "there is no such task") == 0, "and what is not there is not")
    check(page.eval("document.querySelector('#tasks [role=status]').textContent").startswith("0 of "), "it is said")
    check(choose(0, "") == page.eval("data.cells.length"), "all are back")
    check(choose(2, "1") == page.eval("data.tasks.length"), "those of one model")
    check(choose(3, "3") == page.eval("correct.filter(one => one.m === 0).length"), "its correct ones")
    choose(2, "0")
    choose(3, "0")
    page.eval("document.querySelector('#tasks tbody button').focus()")
    page.key("Enter")
    check(opened(page), "a row opens by keyboard")
    page.key("Escape")
    check(page.eval("document.activeElement.matches('#tasks button')"), "and the focus returns to it")


def check_sets(page, html):
    """A file of results, without models."""
    page.open(html)
    check(page.problems == [], f"the console complains: {page.problems}")
    check("candidate sets" in page.eval("document.getElementById('lede').textContent"), "it is of sets")
    check(page.eval("document.getElementById('h-grid').textContent") == "Every task by every set", "sets")
    check(page.eval("document.querySelectorAll('#speedups .point').length") == page.eval("correct.length") > 0, "marks")
    check(page.eval("document.querySelectorAll('#tasks tbody tr').length") == page.eval("data.cells.length"), "rows")
    check(page.eval("document.querySelectorAll('.roof').length") == 0, "no roof where none is recorded")
    check(page.eval("roofOf('constructor')[0] === Infinity"), "a device of that name has none either")
    check("of the roof" not in page.eval("document.getElementById('tasks').textContent"), "and no share of one")


def test(page, html, shots):
    page.open(html)
    check(page.problems == [], f"the console complains: {page.problems}")
    check([url for url in page.requests if not url.startswith(("file:", "data:", "about:"))] == [],
          f"the page asks the network: {page.requests}")
    models = page.eval("data.models.length")
    cells = page.eval("document.querySelectorAll('td.c[role=gridcell]').length")
    check(cells == page.eval("data.cells.length"), f"{cells} cells")
    check(page.eval("document.querySelectorAll('#charts svg').length") == 5, "four curves and the roofline")
    check(page.eval("[[1, 2], [1, 3], [1, 12], [1, 200]].every(([a, b]) => [true, false].every(log =>"
                    " ticksOf(a, b, log, true).length > 1 && ticksOf(a, b, log, true).every(Number.isInteger)))"),
          "attempts are counted in whole numbers")
    check(page.eval("[...document.querySelectorAll('.chart .name')].every(n => n.textContent)"), "named lines")
    check(page.eval("![...document.querySelectorAll('svg *')].some(n => /NaN|Infinity|undefined/.test(n.outerHTML))"), "no numbers that are none")
    # Lines that end together, and one of a single point with values outside of the axis.
    check(page.eval("""(() => { const heights = nameHeights([50, 50, 49, 214, 214]).sort((a, b) => a - b);
      return heights.every((height, i) => i === 0 || height - heights[i - 1] > 11.9); })()"""), "names stand apart")
    check(not page.eval("""(() => { const models = data.models;
      data.models = [{name: '<b>', fast: [[0, -1, -2, 7]], fast_low: []}];
      try { return /NaN|Infinity|undefined|<b>/.test(chart(kCharts[0]).querySelector('svg').outerHTML); }
      finally { data.models = models; } })()"""), "one point is drawn, and its name is text")
    check(page.eval("document.querySelectorAll('svg.whisker').length") > models, "intervals are drawn")
    check(page.eval("document.querySelectorAll('b').length") == 6, "no markup of a model's name")
    # Without colour: every cell has a text, and a label for those who listen.
    check(page.eval("[...document.querySelectorAll('td.c[role=gridcell]')].every(c => c.textContent.trim() && c.ariaLabel)"),
          "marks in all cells")
    check(page.eval("document.querySelectorAll('[role=grid] [tabindex=\"0\"]').length") == 1, "one tab stop in the grid")

    # By keyboard: into the grid, along it, a cell opened and closed again.
    page.eval("document.querySelector('[role=gridcell][tabindex=\"0\"]').focus()")
    first = page.eval("document.activeElement.ariaLabel")
    page.key("ArrowDown")
    page.key("ArrowRight")
    second = page.eval("document.activeElement.ariaLabel")
    check(first != second and "level" in second, f"arrow keys move: {first} | {second}")
    check(page.eval("document.activeElement.matches(':focus-visible')"), "the focus is seen")
    page.key("Enter")
    check(opened(page), "Enter opens")
    check(page.eval("document.getElementById('d-title').textContent.length") > 0, "a title")
    check(page.eval("document.querySelectorAll('#d-attempt pre').length") > 1, "texts behind the cell")
    check("</script>" in page.eval("document.getElementById('d-attempt').textContent"), "hostile text is shown as it is")
    if shots:
        page.screenshot(os.path.join(shots, "dialog.png"), whole=False)
    page.key("Escape")
    check(not opened(page), "Escape closes")
    check(page.eval("document.activeElement.ariaLabel") == second, "the focus returns")
    page.key("End")
    check(page.eval("current[1]") == models - 1, "End goes to the last model")

    check_tasks(page, models)

    # Every cell opens, and every attempt in it.
    count = page.eval("""(() => { let count = 0;
      for (const cell of document.querySelectorAll('td.c[role=gridcell]')) {
        cell.click();
        for (const button of document.querySelectorAll('#d-body .samples button')) { button.click(); count++; }
        document.getElementById('detail').close();
      }
      return count; })()""")
    check(count == page.eval("data.attempts"), f"{count} attempts open")
    check(page.eval("document.documentElement.dataset.broken") is None, "nothing in the data has run")
    check(page.eval("document.querySelectorAll('img').length") == 0, "nothing in the data is markup")
    check(page.eval("document.documentElement.scrollWidth <= innerWidth"), "no sideways scrolling")
    page.width(390)
    check(page.eval("document.documentElement.scrollWidth <= 390"), "nor on a telephone")
    page.width(None)
    check(page.problems == [], f"the console complains: {page.problems}")

    colours = {}
    page.eval("document.activeElement.blur(); scrollTo(0, 0)")
    for name, media, scheme in (("light", "", "light"), ("dark", "", "dark"), ("print", "print", "dark")):
        page.media(media, scheme)
        colours[name] = page.eval("getComputedStyle(document.documentElement).backgroundColor")
        if shots:
            page.screenshot(os.path.join(shots, name + ".png"))
    check(len(set(colours.values())) == 3, f"light, dark and paper differ: {colours}")
    check(colours["print"] == "rgb(255, 255, 255)", "paper is white in the dark too")
    pdf = os.path.join(shots or os.path.dirname(html), "page.pdf")
    page.pdf(pdf)
    check(os.path.getsize(pdf) > 10000, "it prints")
    return cells, count


def main():
    make_run, kbench = sys.argv[1:3]
    shots = sys.argv[3] if len(sys.argv) > 3 else None
    program = browser.find()
    if not needs.has(program, "chromium (Debian: chromium)"):
        return 77
    with tempfile.TemporaryDirectory(prefix="kbench_report_") as folder:
        run, html = os.path.join(folder, "run"), os.path.join(folder, "report.html")
        subprocess.run([make_run, run], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([kbench, "report", run, "--html", html], check=True, stdout=subprocess.DEVNULL)
        page = browser.Browser(program)
        try:
            print("%d cells, %d attempts opened" % test(page, html, shots))
            results = os.path.join(run, "results.jsonl")
            subprocess.run([kbench, "report", results, "--html", html], check=True, stdout=subprocess.DEVNULL)
            check_sets(page, html)
        finally:
            page.close()
    return 0


sys.exit(main())
