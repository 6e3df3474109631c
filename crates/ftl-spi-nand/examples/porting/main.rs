//! The port that `docs/PORTING.md` walks through, from a datasheet to data on flash: a GD5F4GQ6UE.
//!
//! [`port`] is the code of the guide. Here a model of the chip stands on the bus; on a board, the board's own
//! `SpiDevice` does, and nothing else changes.

mod port;

use embedded_hal::spi::SpiDevice;
use ftl_iface::NandDevice;
use ftl_spi_nand::SpiNand;
use ftl_spi_nand::model::{SpiNandModel, Times};
use nand_model::faults::FaultInjector;
use nand_model::power::{Cut, PowerCut};
use nand_model::{Chip, Content, datasheet};

use port::{GD5F4GQ6UE, PARTS, PLAN, after_cut, cut_me, driver, examine, start};

/// A slow bus, on which few polls are sent while the chip is busy.
const HERTZ: u32 = 8_000_000;

/// The chip is switched on.
fn board<N: NandDevice>(cells: N) -> SpiNandModel<'static, N> {
    let cache = vec![0; 2048 + 128].leak();
    SpiNandModel::new(&PARTS[0], cells, Times::GD5F1GQ4UA, HERTZ, cache).expect("a sound part")
}

/// The driver, or why there is none.
fn driven<S: SpiDevice>(spi: S) -> SpiNand<'static, S> {
    driver(spi).unwrap_or_else(|why| panic!("{why}"))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut part = datasheet::builtin("spi-nand-1g")?;
    part.geometry = GD5F4GQ6UE.geometry;
    let cells = FaultInjector::new(Chip::new(&part, Content::Bytes)?, 4);

    let mut nand = driven(board(cells));
    examine(&mut nand)?;
    println!("{} keeps its contract", nand.part().name);

    // Three erases and a block come first; then power goes, midway through the next block.
    let cut = PowerCut::new(nand.release().into_cells(), Cut::seeded(3 + 64 + 30, 1));
    let mut nand = driven(board(cut));
    cut_me(&mut nand, || println!("cut the power now"))?;
    let cut = nand.release().into_cells();
    assert!(!cut.is_on(), "power was cut");
    let mut nand = driven(board(cut.into_inner()));
    after_cut(&mut nand)?;
    println!("what a power cut left is as promised");

    println!("the FTL takes {} bytes of RAM", PLAN.total_bytes());
    start(nand, 0x5EED)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_port_of_the_guide_runs() {
        super::main().unwrap();
    }

    #[test]
    fn the_plan_is_what_the_guide_tells() {
        assert_eq!(super::PLAN.total_bytes(), 41_770);
    }
}
