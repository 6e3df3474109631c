"""An FTL in Python, for teaching. It is slow: some hundred thousand pages a second at best, a hundredth of the others."""

from __future__ import annotations

from typing import Literal

from ._native import Flash


class System:
    """What `tandem.replay` and `tandem.compare` take as a system, as a class or as an object of it.

    It is asked by whole pages of `flash.page_bytes`. The flash has regions, `"slc"` and `"mlc"`; a region has blocks, and a
    block has slots of a page each. The slots of a block are programmed in their order, each once after an erase: the chip
    refuses anything else with a `Violation`. Every read of the host is compared with what was written last.
    """

    #: Its name in results.
    name: str = "own"
    #: What it runs on: `"both"` regions, or all of the capacity in `"mlc"` or in `"slc"`.
    memory: Literal["both", "mlc", "slc"] = "mlc"
    #: The RAM that its controller would need.
    ram_bytes: int = 0

    flash: Flash

    def start(self, flash: Flash) -> None:
        """Begins on new flash, all of which is erased. The host has `flash.pages` pages."""
        self.flash = flash

    def write(self, page: int, data: bytes) -> None:
        """Writes a page."""
        raise NotImplementedError("a system writes pages: define write(self, page, data)")

    def read(self, page: int) -> bytes:
        """The page as it was written last; zeros if it never was, or was trimmed."""
        raise NotImplementedError("a system reads pages: define read(self, page)")

    def trim(self, page: int) -> None:
        """The host needs the page no more: it reads as zeros."""
        self.write(page, bytes(self.flash.page_bytes))

    def flush(self) -> None:
        """The host wants everything on flash."""

    def maintain(self, pages: int) -> bool:
        """Does idle work for at most so many pages, and returns whether there is more."""
        return False

    def settle(self) -> None:
        """The device has been filled, and the run begins: what was learnt until now is to be forgotten."""

    def check(self) -> None:
        """Called after the run: raises an exception if something is wrong."""
