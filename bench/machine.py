"""What a machine does to figures by itself."""

import mmap
import time

PAGES = 2000
WARM_US = 5.0  # what a page may take; one that stayed takes well under 1 us


def idle_page_us():
    """How long one takes to be read that was not touched for a second, as in a server that waits. Some hosts take such pages away."""
    with mmap.mmap(-1, PAGES * mmap.PAGESIZE) as memory:
        places = range(0, len(memory), mmap.PAGESIZE)
        for place in places:
            memory[place] = 1
        time.sleep(1)
        begin = time.perf_counter()
        for place in places:
            _ = memory[place]
        return (time.perf_counter() - begin) / PAGES * 1e6


def warning(page_us):
    """What to know of the figures, or nothing."""
    if page_us <= WARM_US:
        return ""
    return (f"Note: on this machine a page of memory that was idle for a second takes {page_us:.0f} us to be read. Figures of programs that wait, "
            "and of many clients, are several times what they are elsewhere.")
