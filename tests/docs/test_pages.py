"""What the pages say of themselves and of the source holds: line lengths, links, files, messages,
the table of rooms. Needs no program."""

import os
import re
import unittest

import pages

WIDEST = 100


def anchor(heading):
    """As GitHub and GitLab make it."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


class Pages(unittest.TestCase):
    def test_lines_are_short(self):
        for page in pages.pages():
            for number, line in pages.split(page)[0]:
                self.assertLessEqual(len(line), WIDEST, f"{page}:{number}")

    def test_readme_is_short(self):
        self.assertLess(len(pages.read("README.md").splitlines()), 120)

    def test_links_lead_somewhere(self):
        anchors = {}
        for page in pages.pages():
            lines = (line for _, line in pages.split(page)[0])
            headings = (re.match(r"#+ (.*)", line) for line in lines)
            anchors[page] = {anchor(h[1]) for h in headings if h}
        for page in pages.pages():
            text = "\n".join(line for _, line in pages.split(page)[0])
            for target in re.findall(r"\]\(([^)\s]+)\)", text):
                if re.match(r"https?:", target):
                    continue
                path, _, name = target.partition("#")
                to = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
                self.assertTrue(os.path.exists(os.path.join(pages.ROOT, to)), f"{page}: {target}")
                if name:
                    self.assertIn(name, anchors.get(to, ()), f"{page}: {target}")

    def test_every_page_is_in_the_index(self):
        index = pages.read("docs/README.md")
        for page in pages.pages():
            if page.startswith("docs/") and page != "docs/README.md":
                self.assertIn(f"]({page[len('docs/'):]})", index.replace("\n", " "))

    def test_the_programs_of_the_first_release_are_those_of_the_table(self):
        source = pages.read("levels/first_release.cc")
        programs = ["/".join(each) for each in re.findall(r"{{(\d), (\d+)}, ", source)]
        section = pages.read("docs/kernelbench.md").split("## Its first release\n")[1]
        rows = re.findall(r"^\| (\d/[\d/, to]+) \|", section.split("\n## ")[0], re.MULTILINE)
        told = []
        for row in rows:
            for part in row.split(", "):
                first, _, last = part.partition(" to ")
                level, number = map(int, first.split("/"))
                end = int(last.split("/")[1]) if last else number
                told += [f"{level}/{each}" for each in range(number, end + 1)]
        self.assertEqual(sorted(told), sorted(programs))

    def test_files_that_are_named_exist(self):
        names = {os.path.basename(path) for path in pages.tracked()}
        folders = "libkbench|levels|reference|harness|tests|benchmarks"
        for page in pages.pages():
            for number, line in pages.split(page)[0]:
                for path in re.findall(rf"`((?:{folders})/[\w./-]*)`", line):
                    path = path.rstrip("/")
                    place = os.path.join(pages.ROOT, path)
                    there = os.path.exists(place) or os.path.exists(place + ".cc")  # a program
                    self.assertTrue(there or "FAMILY" in path, f"{page}:{number}: {path}")
            text = "\n".join(line for _, line in pages.split(page)[0])
            for group in re.findall(r"\[((?:`[\w./]+\.(?:cc|h|comp|py)`(?:,\s)?)+)\](?!\()", text):
                for name in re.findall(r"`([^`]+)`", group):
                    self.assertTrue(os.path.basename(name) in names, f"{page}: {name}")

    def test_names_of_code_exist(self):
        """Types and functions that a page names in C++'s way."""
        words = set()
        for path in pages.tracked("*.cc", "*.h", "*.py", "*.comp", "*.glsl"):
            if path.endswith((".cc", ".h", ".py", ".comp", ".glsl")):
                words.update(re.findall(r"\w+", pages.read(path)))
        words.add("ByteAddressBuffer")  # HLSL's
        ours = r"(?:kbench|runner|judge|trial|process|client|vulkan|eager|queue)::[\w:]+"
        for page in pages.pages():
            for number, line in pages.split(page)[0]:
                for code in re.findall(r"`([^`]+)`", line):
                    code = code.partition("(")[0]
                    if re.fullmatch(rf"(?:\w+::)*[A-Z][a-z]+[A-Z]\w*(?:::\w+)*|{ours}", code):
                        for word in code.split("::"):
                            self.assertTrue(word in words, f"{page}:{number}: {code}")

    def test_rooms_are_those_of_the_build(self):
        rooms = pages.read("tests/rooms/CMakeLists.txt")
        table = re.findall(r"^kbench_room_uses\((.*)\)$", rooms, re.M)
        wanted = []
        for line in table:
            rooms, *uses = re.findall(r'"[^"]*"|\S+', line)
            if uses:
                wanted.append((rooms.strip('"').replace(";", " "), " ".join(uses)))
        (block,) = [b for b in pages.split("docs/architecture.md")[1] if b.language == "rooms"]
        shown = [tuple(re.split(r"  +", line)) for line in block.text.strip().split("\n")]
        self.assertEqual(shown, wanted)

    def test_messages_of_troubleshooting_are_the_sources(self):
        text = ""
        for path in pages.tracked("*.cc", "*.h", "dev"):
            if path.startswith("tests/"):
                continue
            if path == "dev" or path.endswith((".cc", ".h")):
                text += pages.read(path)
        # Literals that stand one behind another are one; what is put in between is any text.
        text = re.sub(r'"\s*\n?\s*"', "", text)
        text = text.replace('\\"', '"')
        blocks = [b for b in pages.split("docs/troubleshooting.md")[1] if b.language == "message"]
        self.assertGreater(len(blocks), 15)
        for block in blocks:
            for part in " ".join(block.text.split()).removeprefix("dev: ").split("..."):
                part = part.strip(" '();:,")
                if len(part) >= 6:
                    self.assertTrue(part in text, f"troubleshooting.md:{block.line}: {part}")


if __name__ == "__main__":
    unittest.main()
