//! Which of a trace's volumes begins at 0.
//!
//! Formats set volumes side by side, in the order of their numbers. A trace of one disk is that of a disk of any
//! number, so that the volume of the first request and volume 0 change places.

use super::formats::SPAN;
use super::{Op, Request};

/// The volume that changes places with volume 0.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Volumes {
    first: Option<u64>,
}

impl Volumes {
    /// The request, where its volume is now.
    #[inline]
    pub(crate) fn place(&mut self, request: Request) -> Request {
        let volume = request.offset / SPAN;
        if self.first == Some(0) || request.op == Op::Flush {
            return request;
        }
        let first = *self.first.get_or_insert(volume);
        let offset = request.offset % SPAN;
        let volume = match volume {
            0 => first,
            volume if volume == first => 0,
            other => other,
        };
        Request { offset: volume * SPAN + offset, ..request }
    }
}

#[cfg(test)]
mod tests {
    use nand_model::part::Nanos;

    use super::*;

    #[test]
    fn the_volume_of_the_first_request_begins_at_zero_and_none_is_lost() {
        let placed = |volumes: &[u64]| -> Vec<u64> {
            let mut places = Volumes::default();
            let request = |offset| Request::new(Nanos::ZERO, Op::Read, offset, 1);
            let placed = volumes.iter().map(|at| places.place(request(at * SPAN + 7)).offset);
            placed
                .inspect(|offset| assert_eq!(offset % SPAN, 7))
                .map(|offset| offset / SPAN)
                .collect()
        };
        assert_eq!(placed(&[1063, 1063, 1063]), [0, 0, 0]);
        assert_eq!(placed(&[3, 0, 1, 3]), [0, 3, 1, 0]);
        assert_eq!(placed(&[0, 3, 1]), [0, 3, 1]);
    }
}
