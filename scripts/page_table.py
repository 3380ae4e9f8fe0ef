"""A table that a drill writes, between two marks of a page: each of its rows is found again by its first cells."""


class PageTable:
    """The marks are <!-- NAME --> and <!-- /NAME -->; `head` is the two lines above the rows, and `key_cells` how many cells tell a row
    from all others."""

    def __init__(self, name, head, key_cells):
        self.begin, self.end = f"<!-- {name} -->\n", f"<!-- /{name} -->"
        self.head, self.key_cells = head, key_cells

    def key(self, line):
        return tuple(cells(line)[:self.key_cells])

    def rows(self, text):
        """The page's lines by their keys."""
        _, rule, lines = text.split(self.begin)[1].split(self.end)[0].partition("|---")
        return {self.key(line): line for line in (rule + lines).splitlines(keepends=True)[1:]}

    def with_rows(self, text, new, keys):
        """The text with these lines in the place of those of the same keys, all in the order of `keys`."""
        before, rest = text.split(self.begin)
        lines = {**self.rows(text), **{self.key(line): line for line in new}}
        return before + self.begin + self.head + "".join(lines[key] for key in keys if key in lines) + self.end + rest.split(self.end)[1]


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]
