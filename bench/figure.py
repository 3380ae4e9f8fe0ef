"""A figure and its limit."""


class Figure:
    """What was measured against what must hold; `value` and `limit` in the same unit."""

    def __init__(self, what, value, limit, unit, note=""):
        self.what, self.value, self.limit, self.unit, self.note = what, value, limit, unit, note

    @property
    def holds(self):
        return self.value <= self.limit
