//! A page store over a driver on the judge's chip, whose power is cut.

use std::ptr;

use ftl_c::Nand;
use ftl_judge::*;

use crate::driver::{Driver, start};
use crate::figures;

/// A page store on the judge's chip.
struct Store {
    start: ftl_c::Start,
    device: *mut ftl_c::Tandem,
}

impl Store {
    fn format(&mut self) -> i32 {
        let (start, to) = (&raw const self.start, &raw mut self.device);
        // SAFETY: what the caller of this has lent, and a place for the device.
        unsafe { ftl_c::tandem_format(start, 5, to, ptr::null_mut()) }
    }

    fn mount(&mut self) -> i32 {
        let (start, to) = (&raw const self.start, &raw mut self.device);
        // SAFETY: what the caller of this has lent, and a place for the device.
        unsafe { ftl_c::tandem_mount(start, to, ptr::null_mut()) }
    }

    fn write(&self, sector: u32, fill: u8) -> i32 {
        // SAFETY: a device, and a sector.
        unsafe { ftl_c::tandem_write(self.device, sector, 1, [fill; 2048].as_ptr().cast()) }
    }

    fn read(&self, sector: u32) -> u8 {
        let mut data = [0; 2048];
        // SAFETY: a device, and a sector.
        let outcome =
            unsafe { ftl_c::tandem_read(self.device, sector, 1, data.as_mut_ptr().cast()) };
        assert_eq!((outcome, data), (ftl_c::OK, [data[0]; 2048]), "sector {sector}");
        data[0]
    }
}

#[test]
fn what_an_ftl_wrote_through_a_driver_survives_cuts_on_the_judges_chip() {
    // SAFETY: everything lives until the judge is freed, and is used by one call at a time.
    unsafe {
        let judge = tandem_judge_new(&figures("W25N01GV"));
        let mut driver = Driver { judge, flaw: None, nand: None, operations: 0 };
        let context = (&raw mut driver).cast();
        let (mut geometry, mut config) = Default::default();
        let profile = ftl_c::Profile::OneGbit as u32;
        assert_eq!(ftl_c::tandem_profile(profile, &raw mut geometry, &raw mut config), 0);
        let mut nand = std::mem::zeroed::<Nand>();
        let mut ram = vec![0_u64; 16 << 10];
        let start_with = ftl_c::Start {
            ram: ram.as_mut_ptr().cast(),
            ram_bytes: 8 * ram.len(),
            nand: &raw const nand,
            config: &raw const config,
        };
        let mut store = Store { start: start_with, device: ptr::null_mut() };
        assert_eq!(start(context, &raw mut nand), 0);
        assert_eq!(store.format(), 0);
        let mut held = [0_u8; 40];
        for cut in 1..=30_u8 {
            assert_eq!(tandem_judge_cut_after(judge, u32::from(cut) % 9, cut.into()), 0);
            let mut sector = u32::from(cut);
            while store.write(sector % 40, cut) == 0 {
                held[sector as usize % 40] = cut;
                sector += 7;
            }
            assert_eq!(tandem_judge_power_again(judge), 1, "cut {cut} came");
            assert_eq!((start(context, &raw mut nand), store.mount()), (0, 0), "cut {cut}");
            let in_flight = store.read(sector % 40);
            assert!([held[sector as usize % 40], cut].contains(&in_flight), "cut {cut}");
            held[sector as usize % 40] = in_flight;
            assert!((0..40).all(|at| store.read(at) == held[at as usize]), "cut {cut}");
        }
        tandem_judge_free(judge);
    }
}
