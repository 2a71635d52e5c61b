"""Python's functions of lists, as loops that a script can record."""


def total(items, start):
    """sum(items, start), of one item at least."""
    start = start + items[0]
    for item in items[1:]:
        start = start + item
    return start
