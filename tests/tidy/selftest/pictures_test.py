import unittest

from planted import Planted
from rules import includes, pictures

STATES = '@transition("[*]", "A", "make")\n@transition("A", "B", "go")\n'
LEASE = 'SEQUENCE = (\n    ("parked", ("look",)),\n    ("done", ("touch", "lease")),\n)\n'
FILES = {
    pictures.STATES: STATES,
    pictures.LEASE: LEASE,
    pictures.BELIEF: "//   kA -> kB    see; hear\n//   kB -> kA    forget\n",
    pictures.BELIEF_TEST: '{Kind::kA, "see", Kind::kB, See},\n{Kind::kA, "hear", Kind::kB, Hear},\n'
                          '{Kind::kB, "forget", Kind::kA},\n',
    "server/sql/open.sql": "INSERT INTO skiplane.lease_ledger",
    "server/sql/fold.sql": "DELETE FROM skiplane.lease_ledger; INSERT INTO skiplane.lease_ledger",
    "server/sql/read.sql": "SELECT FROM skiplane.lease_ledger, skiplane.task_pack",
    "server/sql/pack.sql": "INSERT INTO skiplane.task_pack",
    "server/sql/take.sql": "UPDATE skiplane.task_pack SET x = 1",
}


def drawn(name, *lines):
    return "\n".join(["# A", "", "```mermaid", f"%% picture: {name}", *lines, "```", ""])


STATE_LINES = ("[*] --> A: make", "A --> B: go")
LEDGER_LINES = ("[*] --> held: open", "held --> held: fold", "held --> [*]: fold")
PACK_LINES = ("[*] --> waits: pack", "waits --> leased: take")
BELIEF_LINES = ("A --> B: see; hear", "B --> A: forget")
LEASE_LINES = ("W->>B: Lease", "B->>P: look", "P-->>B: rows", "Note over B: parked: no thread",
               "B->>P: touch, if needed", "B->>P: lease", "Note over B: done", "B-->>W: tasks")


class Pictures(Planted):
    rule = pictures

    def found(self, files):
        return [problem for problem in pictures.check({**FILES, **files})
                if "no picture:" not in problem]

    def test_right_pictures_are_fine(self):
        self.assert_clean("docs/a.md", drawn("states", *STATE_LINES))
        self.assert_clean("docs/a.md", drawn("ledger", *LEDGER_LINES))
        self.assert_clean("docs/a.md", drawn("packs", *PACK_LINES))
        self.assert_clean("docs/a.md", drawn("lease", *LEASE_LINES))
        self.assert_clean("docs/a.md", drawn("belief", *BELIEF_LINES))

    def test_causes_of_one_arrow_are_apart(self):
        files = {pictures.STATES: STATES + '@transition("A", "B", "run")\n'}
        text = drawn("states", "[*] --> A: make", "A --> B: go; run")
        self.assertEqual(self.found({**files, "docs/a.md": text}), [])

    def test_a_transition_that_is_not_drawn_is_caught(self):
        self.assert_caught("docs/a.md", drawn("states", *STATE_LINES[:1]),
                           "docs/a.md:3: ('A', 'B', 'go') is not drawn")

    def test_a_transition_that_does_not_exist_is_caught(self):
        self.assert_caught("docs/a.md", drawn("states", *STATE_LINES, "B --> A: back"),
                           "('B', 'A', 'back') is drawn and does not exist")

    def test_a_statement_of_the_ledger_that_is_not_drawn_is_caught(self):
        self.assert_caught("docs/a.md", drawn("ledger", *LEDGER_LINES[1:]), "'open'")

    def test_a_statement_that_writes_packs_and_is_not_drawn_is_caught(self):
        self.assert_caught("docs/a.md", drawn("packs", *PACK_LINES[1:]), "pack is not drawn")

    def test_a_statement_that_removes_no_row_is_not_drawn_as_if(self):
        self.assert_caught("docs/a.md", drawn("ledger", *LEDGER_LINES, "held --> [*]: open"),
                           "('open', True, True) is drawn and does not exist")

    def test_a_transition_of_a_belief_that_no_test_performs_is_caught(self):
        text = drawn("belief", *BELIEF_LINES)
        self.assertEqual(self.found({"docs/a.md": text, pictures.BELIEF_TEST: ""})[0],
                         "docs/a.md:3: ('A', 'B', 'hear', 'of the header or its test only') "
                         "is not drawn")

    def test_another_order_of_statements_is_caught(self):
        lines = [*LEASE_LINES[:4], LEASE_LINES[5], LEASE_LINES[4], *LEASE_LINES[6:]]
        self.assert_caught("docs/a.md", drawn("lease", *lines), "the code has")

    def test_a_picture_that_nothing_is_compared_with_is_caught(self):
        self.assert_caught("docs/a.md", "# A\n\n```mermaid\nflowchart\n```\n", "docs/a.md:3: no")
        self.assert_caught("docs/a.md", drawn("other"), "docs/a.md:3: no `%% picture: NAME`")

    def test_a_picture_that_is_gone_is_caught(self):
        self.assertIn("docs:1: no picture: states", pictures.check({}))

    def test_rooms_are_drawn_without_what_follows_from_other_arrows(self):
        table = {"a": set(), "b/low": {"a"}, "b": {"b/low", "a"}, "c": {"b", "a"},
                 "d": includes.ALL}
        self.assertEqual(pictures.room_arrows(table),
                         {("b_low", "a", ""), ("b", "b_low", ""), ("c", "b", ""), ("d", "c", "")})


if __name__ == "__main__":
    unittest.main()
