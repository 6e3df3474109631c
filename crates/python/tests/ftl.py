"""FTLs in Python, for the tests."""

import tandem


class PageMap(tandem.System):
    """A map of pages over the MLC, which takes the block with the fewest valid pages when it needs room."""

    name = "page-map-in-python"
    memory = "mlc"

    def start(self, flash):
        super().start(flash)
        self.slots = flash.slots("mlc")
        self.place = {}
        self.owner = [[None] * self.slots for _ in range(flash.blocks("mlc"))]
        self.free = list(range(len(self.owner)))
        self.open, self.next = self.free.pop(), 0

    def write(self, page, data, cause="host"):
        if self.next == self.slots:
            self.close()
        self.flash.program("mlc", self.open, self.next, data, cause)
        if page in self.place:
            block, slot = self.place[page]
            self.owner[block][slot] = None
        self.place[page] = self.open, self.next
        self.owner[self.open][self.next] = page
        self.next += 1

    def close(self):
        closed, self.open, self.next = self.open, self.free.pop(), 0
        while len(self.free) < 2:
            others = (block for block in range(len(self.owner)) if block not in (self.open, *self.free))
            victim = min(others, key=lambda block: sum(page is not None for page in self.owner[block]))
            for page in [page for page in self.owner[victim] if page is not None]:
                self.write(page, self.flash.read("mlc", *self.place[page], "gc"), "gc")
            self.flash.erase("mlc", victim)
            self.free.insert(0, victim)

    def read(self, page):
        if page not in self.place:
            return bytes(self.flash.page_bytes)
        return self.flash.read("mlc", *self.place[page])

    def check(self):
        assert all(self.owner[block][slot] == page for page, (block, slot) in self.place.items())


class Log(tandem.System):
    """A log over the SLC that is never cleaned."""

    name = "log-in-python"
    memory = "slc"

    def start(self, flash):
        super().start(flash)
        self.place, self.next = {}, 0

    def write(self, page, data):
        block, slot = divmod(self.next, self.flash.slots("slc"))
        self.flash.program("slc", block, slot, data)
        self.place[page] = block, slot
        self.next += 1

    def read(self, page):
        return self.flash.read("slc", *self.place[page]) if page in self.place else bytes(self.flash.page_bytes)
