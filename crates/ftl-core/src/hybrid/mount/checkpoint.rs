//! The clean stop, and the mount after one: the tables are saved to flash as they are, and loaded again.
//!
//! A checkpoint is an image of the tables, and a seal that is programmed after it. The flash access layer breaks the
//! seal before anything else is programmed or erased (see [`Seals`]), so an existing seal belongs to a checkpoint that
//! is true. If anything is wrong with it, the mount scans as if there were none.

use ftl_iface::{Bytes, NandDevice, StoreWriteError};

use super::error::MountError;
use crate::config::Probing;
use crate::error::Fault;
use crate::filter::Runs;
use crate::hybrid::flash::{Erasure, ImageReader, ImageWriter, Programmed, Seals};
use crate::hybrid::mechanisms::Mechanisms;
use crate::hybrid::rules;
use crate::hybrid::scrub::Scrub;
use crate::hybrid::shape::{CHECKPOINT_AREAS, CheckpointArea};
use crate::hybrid::slc::index::{Entry, IndexShape};
use crate::hybrid::state::Ftl;
use crate::hybrid::writeback::WriteBack;
use crate::layout::{self, Seal};
use crate::probe::Probe;
use crate::table::word;

/// The result of a stop. In either case all acknowledged data is on flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// A checkpoint was written: the next mount reads a few pages.
    Checkpoint,
    /// No checkpoint could be written: the next mount scans, and the first request after it does the recovery as after
    /// a power cut. The blocks for checkpoints are bad, or too few for the configured hash table; or the
    /// device is read-only because of a block that cannot be marked bad, which the next mount must find again, or
    /// before that recovery could be completed.
    NoCheckpoint,
}

/// What a mount finds of checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Checkpoint {
    /// The tables are loaded.
    Loaded,
    /// There is no valid one.
    None,
}

impl<D: NandDevice, P: Probe, M: Mechanisms> Ftl<'_, D, P, M> {
    /// Makes the checkpoint void now. Otherwise the first change after a mount does it, and takes longer by an erase or
    /// two. If the first write must be fast, call this earlier, when there is time.
    pub fn void_checkpoint(&mut self) -> Result<(), StoreWriteError<D::Error>> {
        self.flash.alive()?;
        if self.flash.seals() != Seals::Broken {
            self.flash.break_seals()?;
        }
        Ok(())
    }

    /// Forgets everything learnt from the host's requests: the hot-data threshold, the log's window, and the update
    /// ratio. Data, wear and tables stay. For a device that was filled by one host and now serves another.
    pub fn forget_requests(&mut self) {
        self.filter = Self::new_filter(&self.config);
        self.runs = Runs::NONE;
        self.throttle = Self::new_throttle(&self.config, &self.shape);
        self.weigh_wear();
        self.write_back = WriteBack::new(self.config.write_back);
    }

    /// Reports to the throttle how often log and chains were erased so far.
    pub(crate) fn weigh_wear(&mut self) {
        let log_erases = self.log.get().map_or(0, |log| log.ring().erases());
        let window = self.throttle.window();
        self.throttle.restore(log_erases, self.wear.total_erases(), window);
    }

    pub(crate) fn write_checkpoint(&mut self) -> Result<Stopped, Fault<D::Error>> {
        self.flash.alive()?;
        if !M::CHECKPOINTS {
            return Ok(Stopped::NoCheckpoint);
        }
        if let Seals::One(_) = self.flash.seals()
            && !self.scrub.moved
        {
            return Ok(Stopped::Checkpoint);
        }
        if self.flash.failed.noted::<D::Error>().is_err() {
            return Ok(Stopped::NoCheckpoint);
        }
        if self.flash.failed.read_only {
            self.give_up_fold()?;
        }
        while self.mlc.fold.is_active() {
            self.fold_step()?;
        }
        self.give_up_wear_move();
        if self.image_bytes() > self.shape.place_bytes() {
            return Ok(Stopped::NoCheckpoint);
        }
        self.flash.break_seals()?;
        let turn = self.turn.wrapping_add(1);
        for step in 0..CHECKPOINT_AREAS {
            let number = (turn as u16).wrapping_add(step) % CHECKPOINT_AREAS;
            if self.write_image(self.flash.place(number), turn)? == Programmed::Done {
                self.turn = turn;
                self.flash.set_seals(Seals::One(number));
                self.scrub.moved = false;
                return Ok(Stopped::Checkpoint);
            }
        }
        Ok(Stopped::NoCheckpoint)
    }

    /// Writes the image to a place and seals it.
    fn write_image(
        &mut self,
        place: CheckpointArea,
        turn: u32,
    ) -> Result<Programmed, Fault<D::Error>> {
        if self.flash.prepare_place(place)? == Erasure::Failed {
            return Ok(Programmed::BlockFailed);
        }
        let mut sink = ImageWriter::new(&mut self.flash, place);
        self.filter.save(&mut sink);
        self.throttle.save(&mut sink);
        self.write_back.save(&mut sink);
        self.wear.save(&mut sink);
        self.mlc.save(&mut sink);
        if let Some(log) = self.log.get() {
            log.save(&mut sink);
        }
        self.unproved.save(&mut sink);
        self.scrub.save(&mut sink, &self.shape);
        let Some(written) = sink.finish()? else {
            return Ok(Programmed::BlockFailed);
        };
        debug_assert_eq!(u64::from(written.length), self.image_bytes(), "the image's length");
        let seal = Seal {
            turn,
            length: written.length,
            fingerprint: self.fingerprint(),
            image_check: written.check,
        };
        self.flash.put_seal(place, &seal)
    }

    /// Loads the tables from the newest checkpoint. If there is no valid one, the tables are empty.
    pub(super) fn mount_checkpoint(&mut self) -> Result<Checkpoint, MountError<D::Error>> {
        self.flash.set_seals(Seals::Unknown);
        if !M::CHECKPOINTS {
            return Ok(Checkpoint::None);
        }
        let mut newest: Option<(u16, Seal, layout::Tag)> = None;
        for number in 0..CHECKPOINT_AREAS {
            let found = self.flash.read_seal(self.flash.place(number))?;
            if let Some((seal, tag)) = found
                && newest.is_none_or(|(_, newest, _)| newest.turn < seal.turn)
            {
                newest = Some((number, seal, tag));
            }
        }
        let Some((number, seal, tag)) = newest else {
            return Ok(Checkpoint::None);
        };
        if seal.fingerprint != self.fingerprint() || u64::from(seal.length) != self.image_bytes() {
            return Ok(Checkpoint::None);
        }
        if self.load_image(number, &seal)? != Some(()) {
            self.clear();
            return Ok(Checkpoint::None);
        }
        self.turn = seal.turn;
        self.flash.raise_stamp(tag.stamp);
        self.flash.set_seals(Seals::One(number));
        Ok(Checkpoint::Loaded)
    }

    /// Loads the tables from the image in a place. `None`: it is damaged or inconsistent.
    fn load_image(&mut self, number: u16, seal: &Seal) -> Result<Option<()>, Fault<D::Error>> {
        let place = self.flash.place(number);
        let mut source = ImageReader::new(&mut self.flash, place, seal.length);
        let mut rooms = || {
            self.filter.load(&mut source)?;
            self.throttle.load(&mut source)?;
            self.write_back.load(&mut source)?;
            self.wear.load(&mut source)?;
            self.mlc.load(&mut source, self.wear.in_use())?;
            if let Some(log) = self.log.get_mut() {
                log.load(&mut source)?;
            }
            self.unproved.load(&mut source)?;
            if !rules::must_go_on_proving() {
                self.unproved.clear();
            }
            self.scrub = Scrub::load(&mut source, &self.shape)?;
            Some(())
        };
        let loaded = rooms();
        let check = source.finish()?;
        if loaded.is_none() || check != Some(seal.image_check) {
            return Ok(None);
        }
        let good = self.wear.in_use().fold(0, |good, _| good + 1);
        self.set_good_blocks(good);
        self.logged.clear();
        if let Some(log) = self.log.get() {
            let reals = log.index.iter().filter(|(_, entry)| matches!(entry, Entry::Real(_)));
            reals.for_each(|(sector, _)| self.logged.set(self.mlc.locate(sector).0, true));
        }
        Ok(Some(()))
    }

    /// Empties every table, so that a scan begins as if none had been loaded.
    fn clear(&mut self) {
        self.filter = Self::new_filter(&self.config);
        self.throttle = Self::new_throttle(&self.config, &self.shape);
        self.write_back = WriteBack::new(self.config.write_back);
        self.wear.clear();
        self.mlc.clear();
        if let Some(log) = self.log.get_mut() {
            log.clear();
        }
        self.unproved.clear();
        self.logged.clear();
        self.scrub = Scrub::default();
    }

    fn image_bytes(&self) -> u64 {
        let index = self.log.get().map(|log| log.index.shape());
        let bytes = index.map_or(0, |shape| shape.low_words() * 4 + shape.high_bytes());
        self.shape.image_bytes(bytes as u64)
    }

    /// The fingerprint covers everything that the image's meaning depends on. Cached maps, copies per page and the
    /// number of free blocks at which folding begins may change.
    fn fingerprint(&self) -> u32 {
        let config = &self.config;
        let limits = config.filter.limits(config.sector_bytes);
        let [initial, largest] = limits.map_or([0; 2], |limits| limits.map(Bytes::get));
        let index = self.log.get().map(|log| log.index.shape());
        let numbers = [
            self.shape.sector_bytes.get(),
            self.shape.capacity.get(),
            word(self.shape.meta.blocks),
            self.shape.log.map_or(0, |area| word(area.blocks)),
            word(self.shape.chain.blocks),
            u32::from(self.shape.meta.pages),
            u32::from(self.shape.meta.slots),
            u32::from(self.shape.chain.pages),
            u32::from(self.shape.chain.slots),
            index.map_or(0, IndexShape::entries),
            index.map_or(0, |shape| u32::from(shape.probes())),
            index.map_or(0, |shape| u32::from(shape.probing() == Probing::Quadratic)),
            config.window_max.map_or(u32::MAX, u32::from),
            u32::from(config.chain_log_blocks_max),
            initial,
            largest,
            u32::from(config.throttle),
            config.endurance.fast,
            config.endurance.main,
            u32::from(config.wear_leveling.enabled),
            u32::from(config.wear_leveling.threshold),
            u32::from(config.write_back.follow_log_blocks),
            u32::from(config.write_back.collect_on_fold),
            u32::from(config.write_back.suspend_when_updates_fall),
        ];
        layout::fingerprint(numbers.into_iter())
    }

    /// The reserve is used up: writes a last checkpoint, so that the next mounts neither scan nor
    /// settle. If that fails they scan. Only of a driver that fails in it the host is told now.
    #[cold]
    #[inline(never)]
    pub(crate) fn come_to_rest(&mut self) -> Result<(), Fault<D::Error>> {
        let written = self.write_checkpoint();
        self.mlc.maps.end_request();
        match written {
            Err(Fault::Device(Some(error))) => Err(Fault::Device(Some(error))),
            _ => Ok(()),
        }
    }
}
