//! Which operation waits for which.

/// Ends a list.
const NONE: u32 = u32::MAX;

/// An operation under way. One that has ended is distinguished from a later one in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OpId {
    at: u32,
    turn: u32,
}

/// How far another operation must have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Until {
    /// It is in its plane's queue, which keeps the order.
    Queued,
    /// It has ended.
    Ended,
}

#[derive(Clone, Debug)]
struct Node<T> {
    what: Option<T>,
    turn: u32,
    /// Operations that it still waits for.
    needs: u32,
    queued: bool,
    /// Those that wait for it, by [`Until`].
    waiting: [u32; 2],
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    to: u32,
    next: u32,
}

/// Operations that have not ended, and what they wait for.
#[derive(Clone, Debug)]
pub(super) struct Graph<T> {
    nodes: Vec<Node<T>>,
    free: Vec<u32>,
    edges: Vec<Edge>,
    free_edges: Vec<u32>,
}

impl<T> Graph<T> {
    pub(super) const fn new() -> Self {
        Self { nodes: Vec::new(), free: Vec::new(), edges: Vec::new(), free_edges: Vec::new() }
    }

    pub(super) fn add(&mut self, what: T) -> OpId {
        if let Some(at) = self.free.pop() {
            let node = &mut self.nodes[at as usize];
            let turn = node.turn;
            *node = Node { what: Some(what), turn, needs: 0, queued: false, waiting: [NONE; 2] };
            return OpId { at, turn };
        }
        let at = self.nodes.len() as u32;
        let what = Some(what);
        self.nodes.push(Node { what, turn: 0, needs: 0, queued: false, waiting: [NONE; 2] });
        OpId { at, turn: 0 }
    }

    /// What it is; nothing once it has ended.
    pub(super) fn get(&self, id: OpId) -> Option<&T> {
        let node = &self.nodes[id.at as usize];
        node.what.as_ref().filter(|_| node.turn == id.turn)
    }

    /// Lets one wait for another, unless that has come so far already.
    pub(super) fn wait(&mut self, id: OpId, earlier: OpId, until: Until) {
        let node = &mut self.nodes[earlier.at as usize];
        if node.turn != earlier.turn || (node.queued && until == Until::Queued) {
            return;
        }
        let edge = Edge { to: id.at, next: node.waiting[until as usize] };
        let at = if let Some(at) = self.free_edges.pop() {
            self.edges[at as usize] = edge;
            at
        } else {
            self.edges.push(edge);
            (self.edges.len() - 1) as u32
        };
        node.waiting[until as usize] = at;
        self.nodes[id.at as usize].needs += 1;
    }

    pub(super) fn is_ready(&self, id: OpId) -> bool {
        self.nodes[id.at as usize].needs == 0
    }

    /// Notes that it is in a queue. Those that need nothing more join `ready`.
    pub(super) fn queue(&mut self, id: OpId, ready: &mut Vec<OpId>) {
        self.nodes[id.at as usize].queued = true;
        self.release(id, Until::Queued, ready);
    }

    /// Takes out one that has ended.
    pub(super) fn end(&mut self, id: OpId, ready: &mut Vec<OpId>) -> Option<T> {
        self.release(id, Until::Queued, ready);
        self.release(id, Until::Ended, ready);
        let node = &mut self.nodes[id.at as usize];
        node.turn = node.turn.wrapping_add(1);
        self.free.push(id.at);
        node.what.take()
    }

    fn release(&mut self, id: OpId, until: Until, ready: &mut Vec<OpId>) {
        let list = &mut self.nodes[id.at as usize].waiting[until as usize];
        let mut at = std::mem::replace(list, NONE);
        let first = ready.len();
        while at != NONE {
            let Edge { to, next } = self.edges[at as usize];
            self.free_edges.push(at);
            let node = &mut self.nodes[to as usize];
            node.needs -= 1;
            if node.needs == 0 {
                ready.push(OpId { at: to, turn: node.turn });
            }
            at = next;
        }
        // The list begins with the latest.
        ready[first..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_is_ready_when_the_last_it_waits_for_has_come_so_far() {
        let mut graph = Graph::new();
        let [first, second, third] = ["first", "second", "third"].map(|what| graph.add(what));
        graph.wait(third, first, Until::Ended);
        graph.wait(third, second, Until::Queued);
        let mut ready = Vec::new();
        graph.queue(second, &mut ready);
        graph.queue(first, &mut ready);
        assert!(ready.is_empty() && !graph.is_ready(third));
        assert_eq!(graph.end(first, &mut ready), Some("first"));
        assert_eq!((ready, graph.is_ready(third)), (vec![third], true));
        assert_eq!(graph.get(first), None);
        // What has ended, or is queued already, is not waited for; nor is what took its place.
        let fourth = graph.add("fourth");
        graph.wait(third, first, Until::Ended);
        graph.wait(third, second, Until::Queued);
        assert!(graph.is_ready(third) && fourth != first);
    }

    #[test]
    fn those_that_waited_go_on_in_their_order() {
        let mut graph = Graph::new();
        let first = graph.add(0);
        let others = [1, 2, 3].map(|what| graph.add(what));
        for other in others {
            graph.wait(other, first, Until::Ended);
        }
        let mut ready = Vec::new();
        graph.end(first, &mut ready);
        assert_eq!(ready, others);
    }
}
