//! Channels, dies and planes in parallel, as an event-driven schedule.
//!
//! An operation that waits for nothing more is in the queue of its plane. A free die takes the oldest of its queues'
//! heads, and with it the heads of its other planes that are of the same kind: the planes of a die work together when
//! the verb, the region and the page number are the same. A read first senses its cells, then its data crosses the
//! channel; a program's data crosses first. The die is occupied all that time, the channel only for the data.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use ftl_iface::Block;
use hashbrown::HashMap;

use super::dies::{Channel, Die, Phase, Task, Together};
use super::graph::{Graph, OpId, Until};
use super::job::{Done, Job, Label, Order, Work};
use super::requests::Requests;
use super::topology::Topology;
use crate::part::Nanos;
use crate::rules::Operation;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The cells of that die have done their part.
    Array(u32),
    /// The bytes on that channel are across.
    Bus(u32),
}

/// What the request under way has asked for so far.
#[derive(Clone, Debug, Default)]
struct Thread {
    request: u32,
    /// Everything after it waits for it.
    gate: Option<OpId>,
    /// Reads whose data the next program writes.
    copies: Vec<OpId>,
    /// Programs that an erase must wait for.
    programs: Vec<OpId>,
    erases: Vec<OpId>,
}

/// The hardware, and what is under way on it.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    planes: Topology,
    now: Nanos,
    active: Nanos,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    events: BinaryHeap<Reverse<(Nanos, u64, Event)>>,
    events_so_far: u64,
    queued_so_far: u64,
    /// `None` is an operation without work, by which one waits for many.
    graph: Graph<Option<Task>>,
    /// Parts of blocks with operations that are in no queue yet: the last of them.
    blocked: HashMap<(Block, u32), OpId>,
    pub(super) requests: Requests,
    thread: Option<Thread>,
    /// Dies to handle before time advances.
    to_start: Vec<u32>,
}

impl Schedule {
    pub(super) fn new(planes: Topology, now: Nanos, active: Nanos, requests: Requests) -> Self {
        let die = |planes: &u32| {
            let queues = vec![VecDeque::new(); *planes as usize];
            Die { queues, ..Die::default() }
        };
        Self {
            now,
            active,
            dies: planes.planes().iter().map(die).collect(),
            channels: vec![Channel::default(); planes.channels() as usize],
            planes,
            events: BinaryHeap::new(),
            events_so_far: 0,
            queued_so_far: 0,
            graph: Graph::new(),
            blocked: HashMap::new(),
            requests,
            thread: None,
            to_start: Vec::new(),
        }
    }

    pub(super) const fn now(&self) -> Nanos {
        self.now
    }

    /// The sum over the dies of the time at work, as far as it is over.
    pub(super) const fn active(&self) -> Nanos {
        self.active
    }

    /// Hands a request over. What follows is its, until [`close`](Self::close).
    pub(super) fn begin(&mut self, at: Nanos) -> u64 {
        self.close();
        self.run_until(at);
        let (number, request) = self.requests.begin(self.now);
        self.thread = Some(Thread { request, ..Thread::default() });
        number
    }

    /// The request has asked for all that it will.
    pub(super) fn close(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.requests.close(thread.request, self.now);
        }
    }

    /// Runs until the next request has ended, or until that moment.
    pub(super) fn next_done(&mut self, until: Option<Nanos>) -> Option<Done> {
        loop {
            if let Some(done) = self.requests.take_done(until) {
                return Some(done);
            }
            self.start_dies();
            let Reverse((next, ..)) = *self.events.peek()?;
            if until.is_some_and(|until| next > until) {
                self.now = self.now.max(until.unwrap_or(next));
                return None;
            }
            self.run_moment(next);
        }
    }

    pub(super) fn run_until(&mut self, moment: Nanos) {
        self.start_dies();
        while let Some(Reverse((next, ..))) = self.events.peek()
            && *next <= moment
        {
            self.run_moment(*next);
            self.start_dies();
        }
        self.now = self.now.max(moment);
    }

    /// Runs until nothing is under way.
    pub(super) fn run_out(&mut self) {
        self.start_dies();
        while let Some(Reverse((next, ..))) = self.events.peek() {
            self.run_moment(*next);
            self.start_dies();
        }
    }

    /// Does an operation that belongs to no request, and waits for it.
    pub(super) fn alone(&mut self, asked: Job, order: Order, label: Label) {
        let number = self.begin(self.now);
        self.issue(asked, order, label);
        self.close();
        while !self.requests.forget(number) {
            self.start_dies();
            let Some(Reverse((next, ..))) = self.events.peek() else { break };
            self.run_moment(*next);
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.thread.is_some()
    }

    /// Takes in an operation of the request under way.
    pub(super) fn issue(&mut self, asked: Job, order: Order, label: Label) {
        let Some(mut thread) = self.thread.take() else { return };
        match asked.work {
            Work::Read { .. } => self.issue_read(&mut thread, asked, order, label),
            Work::Program { .. } => self.issue_program(&mut thread, asked, order, label),
            Work::Erase { .. } => {
                // What the block held must be elsewhere.
                let programs = std::mem::take(&mut thread.programs);
                self.gate_after(&mut thread, programs);
                for part in 0..self.planes.stripe_width(asked.block.region()) {
                    let task = self.task(&thread, asked, part, label);
                    thread.erases.push(self.add(&thread, task, &[]));
                }
            }
        }
        self.thread = Some(thread);
    }

    fn issue_read(&mut self, thread: &mut Thread, asked: Job, order: Order, label: Label) {
        let task = self.task(thread, asked, self.part(&asked).0, label);
        let id = self.add(thread, task, &[]);
        match order {
            Order::Free => {}
            Order::Copied => thread.copies.push(id),
            Order::Awaited => thread.gate = Some(id),
        }
    }

    fn issue_program(&mut self, thread: &mut Thread, asked: Job, order: Order, label: Label) {
        let copies = std::mem::take(&mut thread.copies);
        let task = |schedule: &Self, thread: &Thread| {
            schedule.task(thread, asked, schedule.part(&asked).0, label)
        };
        match order {
            Order::Copied => {
                let task = task(self, thread);
                thread.programs.push(self.add(thread, task, &copies));
            }
            Order::Free => {
                self.gate_after(thread, copies);
                let task = task(self, thread);
                thread.programs.push(self.add(thread, task, &[]));
            }
            Order::Awaited => {
                let mut all = std::mem::take(&mut thread.programs);
                all.extend(copies);
                all.append(&mut thread.erases);
                let task = task(self, thread);
                thread.gate = Some(self.add(thread, task, &all));
            }
        }
    }

    /// From now on, everything of the thread waits for these.
    fn gate_after(&mut self, thread: &mut Thread, mut earlier: Vec<OpId>) {
        earlier.retain(|id| self.graph.get(*id).is_some());
        if earlier.is_empty() {
            return;
        }
        let id = self.graph.add(None);
        for earlier in earlier.iter().chain(&thread.gate) {
            self.graph.wait(id, *earlier, Until::Ended);
        }
        thread.gate = Some(id);
    }

    /// The part of its block that an operation's page lies in, and the page's number there.
    const fn part(&self, asked: &Job) -> (u32, u32) {
        self.planes.part(asked.block.region(), asked.page)
    }

    fn task(&self, thread: &Thread, asked: Job, part: u32, label: Label) -> Task {
        let row = Some(self.part(&asked).1);
        let (verb, row, array, transfer) = match asked.work {
            Work::Read { array, transfer } => (Operation::Read, row, array, transfer),
            Work::Program { array, transfer } => (Operation::Program, row, array, transfer),
            Work::Erase { array } => (Operation::Erase, None, array, Nanos::ZERO),
        };
        Task {
            request: thread.request,
            label,
            place: self.planes.place(asked.block, part),
            block: (asked.block, part),
            together: Together { verb, region: asked.block.region(), row },
            array,
            transfer,
        }
    }

    fn add(&mut self, thread: &Thread, task: Task, after: &[OpId]) -> OpId {
        let id = self.graph.add(Some(task));
        self.requests.more(task.request);
        for earlier in after.iter().chain(&thread.gate) {
            self.graph.wait(id, *earlier, Until::Ended);
        }
        // Operations on a block keep their order, whichever request they belong to.
        if let Some(last) = self.blocked.get(&task.block) {
            self.graph.wait(id, *last, Until::Queued);
        }
        if self.graph.is_ready(id) {
            self.go_on(vec![id]);
        } else {
            self.blocked.insert(task.block, id);
        }
        id
    }

    /// Operations that wait for nothing more.
    fn go_on(&mut self, mut ready: Vec<OpId>) {
        let mut at = 0;
        while let Some(id) = ready.get(at).copied() {
            at += 1;
            match self.graph.get(id).copied() {
                Some(Some(task)) => {
                    self.queue(id, task);
                    self.graph.queue(id, &mut ready);
                }
                _ => {
                    self.graph.end(id, &mut ready);
                }
            }
        }
    }

    fn queue(&mut self, id: OpId, task: Task) {
        if self.blocked.get(&task.block) == Some(&id) {
            self.blocked.remove(&task.block);
        }
        let place = task.place;
        let die = &mut self.dies[place.die as usize];
        if die.may_join(&task) {
            die.group.push((id, task));
            die.left += 1;
            self.requests.started(task.request, self.now);
            self.load(id, task);
            return;
        }
        die.queues[place.plane as usize].push_back((self.queued_so_far, id));
        self.queued_so_far += 1;
        self.to_start.push(place.die);
    }

    /// Dies that are free take what waits for them.
    fn start_dies(&mut self) {
        let mut at = 0;
        while let Some(die) = self.to_start.get(at).copied() {
            at += 1;
            self.start(die);
        }
        self.to_start.clear();
    }

    fn start(&mut self, number: u32) {
        let die = &mut self.dies[number as usize];
        if die.phase != Phase::Free {
            return;
        }
        let graph = &self.graph;
        let task = |id: OpId| graph.get(id).copied().flatten();
        let heads = die.queues.iter().filter_map(|queue| queue.front());
        let Some((_, first)) = heads.min_by_key(|(turn, _)| *turn).copied() else { return };
        let Some(together) = task(first).map(|task| task.together) else { return };
        for queue in &mut die.queues {
            let joins = |id| task(id).filter(|task| task.together == together);
            if let Some((_, id)) = queue.front().copied()
                && let Some(task) = joins(id)
            {
                queue.pop_front();
                die.group.push((id, task));
            }
        }
        (die.since, die.left) = (self.now, die.group.len());
        let loads = together.verb == Operation::Program;
        die.phase = if loads { Phase::Loading } else { Phase::Array };
        let group = die.group.clone();
        for (id, task) in &group {
            self.requests.started(task.request, self.now);
            if loads {
                self.load(*id, *task);
            }
        }
        if !loads {
            self.array(number, &group);
        }
    }

    /// The cells set to work for all of the group.
    fn array(&mut self, die: u32, group: &[(OpId, Task)]) {
        let longest = group.iter().map(|(_, task)| task.array).fold(Nanos::ZERO, Ord::max);
        self.expect(self.now + longest, Event::Array(die));
    }

    fn expect(&mut self, moment: Nanos, event: Event) {
        self.events.push(Reverse((moment, self.events_so_far, event)));
        self.events_so_far += 1;
    }

    /// Bytes queue for their channel.
    fn load(&mut self, id: OpId, task: Task) {
        let number = task.place.channel;
        let channel = &mut self.channels[number as usize];
        if channel.busy.is_some() {
            channel.waiting.push_back((id, task));
        } else {
            channel.busy = Some((id, task));
            self.expect(self.now + task.transfer, Event::Bus(number));
        }
    }

    /// Does all that happens at that moment.
    fn run_moment(&mut self, moment: Nanos) {
        self.now = self.now.max(moment);
        while let Some(Reverse((next, _, event))) = self.events.peek().copied()
            && next <= moment
        {
            self.events.pop();
            match event {
                Event::Array(die) => self.array_done(die),
                Event::Bus(channel) => self.bus_done(channel),
            }
        }
    }

    fn array_done(&mut self, number: u32) {
        let die = &mut self.dies[number as usize];
        let group = die.group.clone();
        if group.first().is_some_and(|(_, task)| task.together.verb == Operation::Read) {
            die.phase = Phase::Unloading;
            for (id, task) in group {
                self.load(id, task);
            }
            return;
        }
        self.free(number);
        for (id, task) in group {
            self.end(id, task);
        }
    }

    fn bus_done(&mut self, number: u32) {
        let channel = &mut self.channels[number as usize];
        let Some((id, task)) = channel.busy.take() else { return };
        if let Some((next, next_task)) = channel.waiting.pop_front() {
            self.load(next, next_task);
        }
        let die = &mut self.dies[task.place.die as usize];
        die.left -= 1;
        let last = die.left == 0;
        match die.phase {
            Phase::Loading if last => {
                die.phase = Phase::Array;
                let group = die.group.clone();
                self.array(task.place.die, &group);
            }
            Phase::Unloading => {
                if last {
                    self.free(task.place.die);
                }
                self.end(id, task);
            }
            _ => {}
        }
    }

    /// The die has nothing more to do for its group.
    fn free(&mut self, number: u32) {
        let die = &mut self.dies[number as usize];
        self.active += self.now.since(die.since);
        die.phase = Phase::Free;
        die.group.clear();
        self.to_start.push(number);
    }

    fn end(&mut self, id: OpId, task: Task) {
        let mut ready = Vec::new();
        self.graph.end(id, &mut ready);
        self.requests.ended(task.request, task.label, self.now);
        self.go_on(ready);
    }
}
