//! Where the pages of a block are: channel, die and plane.

use ftl_iface::{Block, PageIndex, Region};

use crate::part::{Layout, Part, Stripe};

/// The address of a plane of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaneAddress {
    pub(super) channel: u32,
    /// Counted over the whole device.
    pub(super) die: u32,
    /// Of the die.
    pub(super) plane: u32,
}

/// The hardware of a device, and which of it each region lies on.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    /// By region.
    on: [RegionDies; 2],
    channels: u32,
    /// Planes of each die.
    planes: Vec<u32>,
}

/// What a region lies on: dies of that layout, and those of the device that come before them.
#[derive(Clone, Copy, Debug)]
struct RegionDies {
    layout: Layout,
    channels_before: u32,
    dies_before: u32,
}

impl Topology {
    /// What regions share comes first, then what they have of their own.
    pub(super) fn new(part: &Part) -> Self {
        let shared = RegionDies { layout: part.layout, channels_before: 0, dies_before: 0 };
        let mut topology = Self { on: [shared; 2], channels: 0, planes: Vec::new() };
        if let Some(layout) = part.shared_layout() {
            topology.add(layout);
        }
        for region in Region::ALL {
            if let Some(layout) = part.own_layout(region) {
                topology.on[region as usize] = topology.add(layout);
            }
        }
        topology
    }

    fn add(&mut self, layout: Layout) -> RegionDies {
        let (channels_before, dies_before) = (self.channels, self.planes.len() as u32);
        self.channels += layout.channels;
        self.planes.extend(std::iter::repeat_n(layout.planes_per_die, layout.dies() as usize));
        RegionDies { layout, channels_before, dies_before }
    }

    pub(super) const fn channels(&self) -> u32 {
        self.channels
    }

    /// Planes of each die.
    pub(super) fn planes(&self) -> &[u32] {
        &self.planes
    }

    /// Planes over which a block of the region is spread.
    pub(super) const fn stripe_width(&self, region: Region) -> u32 {
        self.on[region as usize].layout.stripe_width()
    }

    /// The part of its block that a page lies in, and its number there.
    pub(super) const fn part(&self, region: Region, page: PageIndex) -> (u32, u32) {
        let width = self.stripe_width(region);
        let page = page.get() as u32;
        (page % width, page / width)
    }

    /// Where that part of a block lies.
    pub(super) fn place(&self, block: Block, part: u32) -> PlaneAddress {
        let RegionDies { layout, channels_before, dies_before } = self.on[block.region() as usize];
        let Layout { channels, dies_per_channel, planes_per_die, stripe } = layout;
        let index = block.index();
        let on = |channel: u32, die: u32, plane: u32| {
            let (channel, die) = (channel % channels, die % dies_per_channel);
            PlaneAddress {
                channel: channels_before + channel,
                die: dies_before + channel * dies_per_channel + die,
                plane: plane % planes_per_die,
            }
        };
        match stripe {
            Stripe::None => {
                let rest = index / planes_per_die;
                on(rest / dies_per_channel, rest, index)
            }
            Stripe::Die => on(index / dies_per_channel, index, part),
            // Channels first, so that a short run of pages is carried over all buses.
            Stripe::Device => on(part, part / channels, part / channels / dies_per_channel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datasheet;

    const LAYOUT: Layout =
        Layout { channels: 2, dies_per_channel: 2, planes_per_die: 2, stripe: Stripe::None };

    fn part_of(layout: Layout) -> Part {
        Part { layout, ..datasheet::builtin("tiny").unwrap() }
    }

    fn of_block(topology: &Topology, block: Block) -> Vec<(u32, u32, u32)> {
        (0..topology.stripe_width(block.region()))
            .map(|part| topology.place(block, part))
            .map(|PlaneAddress { channel, die, plane }| (channel, die, plane))
            .collect()
    }

    fn of_stripe(stripe: Stripe, block: u32) -> Vec<(u32, u32, u32)> {
        let topology = Topology::new(&part_of(Layout { stripe, ..LAYOUT }));
        of_block(&topology, Block::new(Region::Mlc, block))
    }

    #[test]
    fn a_block_lies_on_a_plane_a_die_or_the_whole_device() {
        let plain: Vec<_> = (0..8).flat_map(|block| of_stripe(Stripe::None, block)).collect();
        let in_order = [
            (0, 0, 0),
            (0, 0, 1),
            (0, 1, 0),
            (0, 1, 1),
            (1, 2, 0),
            (1, 2, 1),
            (1, 3, 0),
            (1, 3, 1),
        ];
        assert_eq!(plain, in_order);
        assert_eq!(of_stripe(Stripe::Die, 1), [(0, 1, 0), (0, 1, 1)]);
        assert_eq!(of_stripe(Stripe::Die, 2), [(1, 2, 0), (1, 2, 1)]);
        let channels_first = [
            (0, 0, 0),
            (1, 2, 0),
            (0, 1, 0),
            (1, 3, 0),
            (0, 0, 1),
            (1, 2, 1),
            (0, 1, 1),
            (1, 3, 1),
        ];
        assert_eq!(of_stripe(Stripe::Device, 5), channels_first);
        let part = |layout| Topology::new(&part_of(layout)).part(Region::Mlc, PageIndex::new(21));
        assert_eq!(part(Layout { stripe: Stripe::Device, ..LAYOUT }), (5, 2));
        assert_eq!(part(LAYOUT), (0, 21));
    }

    #[test]
    fn dies_of_a_regions_own_come_after_those_that_are_shared() {
        let mut part = part_of(LAYOUT);
        let own = Layout { planes_per_die: 4, stripe: Stripe::Die, ..Layout::SINGLE };
        part.slc.as_mut().unwrap().layout = Some(own);
        let topology = Topology::new(&part);
        assert_eq!((topology.channels(), topology.planes()), (3, &[2, 2, 2, 2, 4][..]));
        assert_eq!(part.dies(), 5);
        let slc = of_block(&topology, Block::new(Region::Slc, 7));
        assert_eq!(slc, [(2, 4, 0), (2, 4, 1), (2, 4, 2), (2, 4, 3)]);
        assert_eq!(of_block(&topology, Block::new(Region::Mlc, 6)), [(1, 3, 0)]);
        // Where nothing lies on the device's dies, it has none.
        part.mlc.as_mut().unwrap().layout = Some(Layout::SINGLE);
        let topology = Topology::new(&part);
        assert_eq!((topology.channels(), topology.planes()), (2, &[4, 1][..]));
        assert_eq!(of_block(&topology, Block::new(Region::Slc, 0))[3], (0, 0, 3));
        assert_eq!(of_block(&topology, Block::new(Region::Mlc, 5)), [(1, 1, 0)]);
    }
}
