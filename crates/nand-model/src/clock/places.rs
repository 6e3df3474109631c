//! Where the pages of a block lie: on which channel, die and plane.

use ftl_iface::{Block, PageIndex};

use crate::part::{Layout, Stripe};

/// A plane of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) channel: u32,
    /// Counted over the whole device.
    pub(super) die: u32,
    /// Of the die.
    pub(super) plane: u32,
}

/// The part of a block that a page lies in, and its number there.
pub(super) const fn part(layout: Layout, page: PageIndex) -> (u32, u32) {
    let width = layout.stripe_width();
    let page = page.get() as u32;
    (page % width, page / width)
}

/// Where that part of a block lies.
pub(super) fn place(layout: Layout, block: Block, part: u32) -> Place {
    let Layout { channels, dies_per_channel, planes_per_die, stripe } = layout;
    let index = block.index();
    let on = |channel: u32, die: u32, plane: u32| {
        let (channel, die) = (channel % channels, die % dies_per_channel);
        Place { channel, die: channel * dies_per_channel + die, plane: plane % planes_per_die }
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

#[cfg(test)]
mod tests {
    use ftl_iface::Region;

    use super::*;

    const LAYOUT: Layout =
        Layout { channels: 2, dies_per_channel: 2, planes_per_die: 2, stripe: Stripe::None };

    fn places(stripe: Stripe, block: u32) -> Vec<(u32, u32, u32)> {
        let layout = Layout { stripe, ..LAYOUT };
        (0..layout.stripe_width())
            .map(|part| place(layout, Block::new(Region::Mlc, block), part))
            .map(|Place { channel, die, plane }| (channel, die, plane))
            .collect()
    }

    #[test]
    fn a_block_lies_on_a_plane_a_die_or_the_whole_device() {
        let plain: Vec<_> = (0..8).flat_map(|block| places(Stripe::None, block)).collect();
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
        assert_eq!(places(Stripe::Die, 1), [(0, 1, 0), (0, 1, 1)]);
        assert_eq!(places(Stripe::Die, 2), [(1, 2, 0), (1, 2, 1)]);
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
        assert_eq!(places(Stripe::Device, 5), channels_first);
        let layout = Layout { stripe: Stripe::Device, ..LAYOUT };
        assert_eq!(part(layout, PageIndex::new(21)), (5, 2));
        assert_eq!(part(LAYOUT, PageIndex::new(21)), (0, 21));
    }
}
