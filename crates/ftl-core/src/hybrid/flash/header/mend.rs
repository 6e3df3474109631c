//! Which header is rewritten, and while which one stays.

use ftl_iface::NandDevice;

use super::HeaderState;
use crate::error::Fault;
use crate::hybrid::flash::failed::Entered;
use crate::hybrid::flash::{Flash, Programmed, Spot};
use crate::hybrid::rules;
use crate::layout::Header;
use crate::probe::Probe;

/// What became of the headers, one of which may have been rewritten.
pub(in crate::hybrid::flash) enum Mended {
    /// One was.
    Done,
    /// This one failed.
    Failed(Spot),
    /// None must be, or none can be while the other one stays.
    Nothing,
}

/// Which header is to be rewritten while the other one stays, if one lacks a copy or names fewer blocks than that.
pub(in crate::hybrid::flash) fn to_mend(
    states: [Option<HeaderState>; 2],
    listed: u16,
) -> Option<u16> {
    let [first, second] = match states {
        [Some(first), Some(second)] => [first, second],
        // The only good header is not erased.
        [Some(only), None] => return (only.copies() == 0).then_some(0),
        [None, Some(only)] => return (only.copies() == 0).then_some(1),
        [None, None] => return None,
    };
    let older = u16::from(second.stamp() < first.stamp());
    let (old, young) = if older == 0 { (first, second) } else { (second, first) };
    match (first.copies(), second.copies()) {
        (0, _) => Some(0),
        (_, 0) => Some(1),
        // The first copy of an unfinished one may be torn.
        _ if !first.list.ended && second.list.ended => Some(0),
        _ if !second.list.ended && first.list.ended => Some(1),
        // A cut in an erase was in that of the older one, or of one that was unfinished.
        _ if young.is_whole(0) => (!young.names(listed) || !old.is_whole(listed)).then_some(older),
        // It was torn in its list.
        _ if young.list.count < old.list.count => Some(1 - older),
        // There is a list to write. The younger one is torn, unless a torn copy read well while the other was erased.
        _ if listed > 0 && !(old.names(listed) && young.names(listed)) => Some(1 - older),
        // Either may be torn. Whichever is will be missing sooner or later, and then the other one is sure.
        _ => (!rules::must_wait_in_doubt()).then_some(older),
    }
}

/// The older one, if both headers are whole and name that many blocks.
pub(in crate::hybrid::flash) fn older_of_whole(
    states: [Option<HeaderState>; 2],
    listed: u16,
) -> Option<u16> {
    let [Some(zeroth), Some(first)] = states else { return None };
    let are_whole = zeroth.is_whole(listed) && first.is_whole(listed);
    are_whole.then_some(u16::from(first.stamp() < zeroth.stamp()))
}

/// Whether the headers name that many blocks, whichever of them is left.
pub(in crate::hybrid::flash) fn found_listed(
    states: [Option<HeaderState>; 2],
    listed: u16,
) -> Entered {
    let found = || states.iter().flatten();
    let is_sure = found().any(|it| it.is_whole(listed)) || found().all(|it| it.names(listed));
    if is_sure { Entered::Listed } else { Entered::NoRoom }
}

impl<D: NandDevice, P: Probe> Flash<'_, D, P> {
    /// Rewrites one header, if one must be.
    pub(in crate::hybrid::flash) fn mend_header(
        &mut self,
        header: &Header,
    ) -> Result<Mended, Fault<D::Error>> {
        let states = self.header_states()?;
        let listed = self.failed.to_be_named();
        // A read-only device is left alone if it can be.
        let stays = |found: &HeaderState| found.copies() > 0 && found.names(listed);
        if self.failed.read_only && states.iter().flatten().all(stays) {
            return Ok(Mended::Nothing);
        }
        let Some(block) = to_mend(states, listed) else { return Ok(Mended::Nothing) };
        Ok(match self.rewrite_header(block, header)? {
            Programmed::Done => Mended::Done,
            Programmed::BlockFailed => Mended::Failed(Spot::meta(block, 0)),
        })
    }

    /// Whether the headers name every bad block that could not be marked, whichever of them is left.
    pub(in crate::hybrid::flash) fn find_listed(&mut self) -> Result<Entered, Fault<D::Error>> {
        let listed = self.failed.to_be_named();
        if listed == 0 {
            return Ok(Entered::Listed);
        }
        Ok(found_listed(self.header_states()?, listed))
    }
}
