//! Dies and channels, and their queues.

use std::collections::VecDeque;

use ftl_iface::{Block, Region};

use super::graph::OpId;
use super::job::Label;
use super::topology::PlaneAddress;
use crate::part::Nanos;
use crate::rules::Operation;

/// What an operation asks of its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    pub(super) request: u32,
    pub(super) label: Label,
    pub(super) place: PlaneAddress,
    /// The block and the part of it that lies on this plane.
    pub(super) block: (Block, u32),
    pub(super) together: Together,
    pub(super) array: Nanos,
    pub(super) transfer: Nanos,
}

/// What the planes of a die must share to work together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Together {
    pub(super) verb: Operation,
    pub(super) region: Region,
    /// The page's number in its plane's block; none for an erase.
    pub(super) row: Option<u32>,
}

/// What a die is at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    #[default]
    Free,
    /// The bytes of programs come in.
    Loading,
    /// The cells are at work.
    Array,
    /// The bytes of reads go out.
    Unloading,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Die {
    /// By plane, with the number by which the device's operations were queued.
    pub(super) queues: Vec<VecDeque<(u64, OpId)>>,
    pub(super) phase: Phase,
    /// At work, on a plane each.
    pub(super) group: Vec<(OpId, Task)>,
    /// Of these, whose bytes have not crossed yet.
    pub(super) left: usize,
    /// Since when it is taken.
    pub(super) since: Nanos,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Channel {
    pub(super) waiting: VecDeque<(OpId, Task)>,
    pub(super) busy: Option<(OpId, Task)>,
}

impl Die {
    /// Whether it can still take that program with those whose bytes come in.
    pub(super) fn may_join(&self, task: &Task) -> bool {
        self.phase == Phase::Loading
            && self.queues[task.place.plane as usize].is_empty()
            && self.group.iter().all(|(_, other)| {
                other.together == task.together && other.place.plane != task.place.plane
            })
    }
}
