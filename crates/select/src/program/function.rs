//! Edges' vectors -> a function's vector: Algorithm 1.
//!
//! From the entry on, what comes in at a block is averaged into what goes out,
//! blocks in the deepest region first.
//!
//! What the paper leaves open is decided here:
//! - A block that is no loop entry passes on once, when all its incoming edges
//!   have been visited. As printed, lines 19 to 25 would do it again for every
//!   predecessor that is taken later, which depends on the order of successors.
//! - Of blocks in regions as deep, the first in the function is taken.
//! - Where control flow has a cycle without a loop entry, no block of it ever
//!   has all its incoming edges visited. When nothing else is left, the deepest
//!   block with a visited incoming edge passes on what came in so far, and it
//!   goes on from there. So every block that is reached takes part.
//! - Exits are blocks without successors. Over all edges that end in one, the
//!   mean is taken. Where there is none, as in an endless loop, it is taken over
//!   the outgoing edges of the block that was taken last.
//!
//! **Invariant:** blocks that nothing reaches change nothing.

use optsleuth_model::FunctionShape;

/// A way from a block to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block it leaves.
    pub from: usize,
    /// The block it enters.
    pub to: usize,
}

/// The edges that are reached from the entry: by the block they leave, and in
/// the order of its successors.
pub fn edges(function: &FunctionShape) -> Vec<Edge> {
    let mut is_reached = vec![false; function.blocks.len()];
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        if block < is_reached.len() && !is_reached[block] {
            is_reached[block] = true;
            open.extend(&function.blocks[block].successors);
        }
    }
    let blocks = function.blocks.iter().enumerate().filter(|(block, _)| is_reached[*block]);
    blocks
        .flat_map(|(from, block)| block.successors.iter().map(move |&to| Edge { from, to }))
        .collect()
}

/// The vector of a function whose [`edges`] have these vectors, in order.
///
/// # Panics
/// If there are not as many vectors as edges, or no edge.
pub fn function_vector(function: &FunctionShape, vectors: Vec<Vec<f32>>) -> Vec<f32> {
    let edges = edges(function);
    assert_eq!(edges.len(), vectors.len(), "one vector per edge");
    assert!(!edges.is_empty(), "no edge");
    let n_blocks = function.blocks.len();
    let mut aggregation = Aggregation {
        function,
        incoming: vec![Vec::new(); n_blocks],
        outgoing: vec![Vec::new(); n_blocks],
        is_visited: vec![false; edges.len()],
        states: vec![State::Ahead; n_blocks],
        edges,
        vectors,
    };
    aggregation.run()
}

/// How far a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It has not passed on anything.
    Ahead,
    /// In the work list.
    Waiting,
    /// Taken from it.
    Taken,
}

struct Aggregation<'a> {
    function: &'a FunctionShape,
    edges: Vec<Edge>,
    vectors: Vec<Vec<f32>>,
    incoming: Vec<Vec<usize>>,
    outgoing: Vec<Vec<usize>>,
    is_visited: Vec<bool>,
    states: Vec<State>,
}

impl Aggregation<'_> {
    fn run(&mut self) -> Vec<f32> {
        for (index, edge) in self.edges.iter().enumerate() {
            self.outgoing[edge.from].push(index);
            self.incoming[edge.to].push(index);
        }
        self.pass_on(0, &[]);
        let mut last = 0;
        while let Some(block) = self.next() {
            self.states[block] = State::Taken;
            if !self.outgoing[block].is_empty() {
                last = block;
            }
            for edge in self.outgoing[block].clone() {
                let successor = self.edges[edge].to;
                if self.function.blocks[successor].is_loop_entry {
                    self.pass_on(successor, &[edge]);
                } else if self.states[successor] == State::Ahead {
                    let incoming = self.incoming[successor].clone();
                    if incoming.iter().all(|&edge| self.is_visited[edge]) {
                        self.pass_on(successor, &incoming);
                    }
                }
            }
        }
        let ends: Vec<usize> = (0..self.edges.len())
            .filter(|&edge| self.outgoing[self.edges[edge].to].is_empty())
            .collect();
        self.mean(if ends.is_empty() { &self.outgoing[last] } else { &ends })
    }

    /// The block to take next: of those that wait, otherwise of those that are
    /// stuck.
    fn next(&mut self) -> Option<usize> {
        let blocks = 0..self.states.len();
        let waiting = blocks.clone().filter(|&block| self.states[block] == State::Waiting);
        if let Some(block) = self.deepest(waiting) {
            return Some(block);
        }
        let came_in = |block: usize| -> Vec<usize> {
            let incoming = self.incoming[block].iter().copied();
            incoming.filter(|&edge| self.is_visited[edge]).collect()
        };
        let stuck = blocks
            .filter(|&block| self.states[block] == State::Ahead && !came_in(block).is_empty());
        let block = self.deepest(stuck)?;
        let incoming = came_in(block);
        self.pass_on(block, &incoming);
        Some(block)
    }

    /// The first of those in the deepest region.
    fn deepest(&self, blocks: impl Iterator<Item = usize>) -> Option<usize> {
        let depth = |block: usize| {
            let region = self.function.blocks[block].region;
            region.and_then(|region| self.function.regions.get(region)).map_or(0, |r| r.depth)
        };
        blocks.min_by_key(|&block| (std::cmp::Reverse(depth(block)), block))
    }

    /// Averages what comes in into all that goes out of the block.
    fn pass_on(&mut self, block: usize, incoming: &[usize]) {
        let mut sum = vec![0.0; self.vectors[0].len()];
        for &edge in incoming {
            add(&mut sum, &self.vectors[edge]);
        }
        for &edge in &self.outgoing[block] {
            let vector = &mut self.vectors[edge];
            add(vector, &sum);
            vector.iter_mut().for_each(|number| *number /= (incoming.len() + 1) as f32);
            self.is_visited[edge] = true;
        }
        if self.states[block] == State::Ahead {
            self.states[block] = State::Waiting;
        }
    }

    fn mean(&self, edges: &[usize]) -> Vec<f32> {
        let mut sum = vec![0.0; self.vectors[0].len()];
        for &edge in edges {
            add(&mut sum, &self.vectors[edge]);
        }
        sum.iter().map(|number| number / edges.len() as f32).collect()
    }
}

fn add(sum: &mut [f32], addend: &[f32]) {
    for (sum, addend) in sum.iter_mut().zip(addend) {
        *sum += addend;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use optsleuth_model::{BlockShape, RegionShape};

    /// `0:1 1L:2,3` and so on: blocks, `L` for loop entries, and where they
    /// lead. All are in one region but those named, with depths.
    fn function(text: &str, depths: &[(usize, u32)]) -> FunctionShape {
        let blocks: Vec<BlockShape> = text
            .split(' ')
            .map(|block| {
                let (name, successors) = block.split_once(':').unwrap();
                let successors = successors.split(',').filter(|s| !s.is_empty());
                let index = name.trim_end_matches('L').parse::<usize>().unwrap();
                let depth = depths.iter().find(|(block, _)| *block == index).map_or(0, |d| d.1);
                BlockShape {
                    successors: successors.map(|s| s.parse().unwrap()).collect(),
                    region: Some(depth as usize),
                    is_loop_entry: name.ends_with('L'),
                    ..BlockShape::default()
                }
            })
            .collect();
        let regions = (0..5).map(|depth| RegionShape { depth, entry: 0, exit: None }).collect();
        FunctionShape { blocks, regions, ..FunctionShape::default() }
    }

    /// One number per edge, in order -> the function's.
    fn check(function: &FunctionShape, edges: &[f32], expected: f32) {
        let found = function_vector(function, edges.iter().map(|&x| vec![x, -2.0 * x]).collect());
        let near = |a: f32, b: f32| (a - b).abs() < 1e-4 * b.abs().max(1.0);
        assert!(near(found[0], expected) && near(found[1], -2.0 * expected), "{found:?}");
    }

    #[test]
    fn bubble_sort() {
        // Fig. 4. Blocks: %2, %11 (outer loop), %14, %15 (inner loop), %19
        // (branch), its way, %54, %55, %58, %59.
        let sort = function(
            "0:1 1L:2,9 2:3 3L:4,8 4:5,6 5:6 6:7 7:3 8:1 9:",
            &[(1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (6, 2), (7, 2), (8, 1)],
        );
        // In the paper's numbering, by the blocks they leave:
        // 1 | 2 12 | 3 | 4 10 | 5 7 | 6 | 8 | 9 | 11.
        let edge = |number: usize| 2f32.powi(number as i32);
        let order = [1, 2, 12, 3, 4, 10, 5, 7, 6, 8, 9, 11].map(edge);
        // %2 taken: 2, 12 get 1. %11: 3 gets 2. %14: 4, 10 get 3. %15: 5, 7 get
        // 4; 11 gets 10. The inner loop then changes 4 and 10, too late for 11.
        // %58: 2, 12 get 11.
        let e2 = (edge(2) + edge(1)) / 2.0;
        let e3 = (edge(3) + e2) / 2.0;
        let e10 = (edge(10) + e3) / 2.0;
        let e11 = (edge(11) + e10) / 2.0;
        let e12 = ((edge(12) + edge(1)) / 2.0 + e11) / 2.0;
        check(&sort, &order, e12);
    }

    #[test]
    fn a_branch_waits_for_both_ways() {
        // 0 -> 1 -> 3 and 0 -> 2 -> 3, 3 -> 4. Edges: 01 02 13 23 34.
        // 13 = (4+1)/2, 23 = (8+2)/2, 34 = (16 + 2.5 + 5)/3.
        check(&function("0:1,2 1:3 2:3 3:4 4:", &[]), &[1.0, 2.0, 4.0, 8.0, 16.0], 23.5 / 3.0);
        // Whichever successor comes first.
        check(&function("0:2,1 1:2 2:3 3:", &[]), &[1.0, 2.0, 4.0, 8.0], 12.0 / 3.0);
        check(&function("0:1,2 1:2 2:3 3:", &[]), &[2.0, 1.0, 4.0, 8.0], 12.0 / 3.0);
    }

    #[test]
    fn exits_are_averaged() {
        // 01 = 2, 02 = 6: nothing comes before them.
        check(&function("0:1,2 1: 2:", &[]), &[2.0, 6.0], 4.0);
        check(&function("0:1 1:2,3 2: 3:", &[]), &[2.0, 6.0, 8.0], (4.0 + 5.0) / 2.0);
    }

    #[test]
    fn an_endless_loop_is_where_it_was_last() {
        // 12 = (4+2)/2 = 3; 21 = (8+3)/2 = 5.5; 12 = (3+5.5)/2. Block 2 last.
        check(&function("0:1 1L:2 2:1", &[]), &[2.0, 4.0, 8.0], 5.5);
        // A block that leads to itself: 11 = (6+2)/2 = 4, then (4+4)/2.
        check(&function("0:1 1L:1", &[]), &[2.0, 6.0], 4.0);
    }

    #[test]
    fn what_nothing_reaches_changes_nothing() {
        let shape = function("0:1 1: 2:1,3 3:2", &[]);
        assert_eq!(edges(&shape), [Edge { from: 0, to: 1 }]);
        check(&shape, &[3.0], 3.0);
    }

    #[test]
    fn a_cycle_with_two_ways_in_is_gone_through() {
        // 1 and 2 lead to each other, both are entered from 0, 2 leads out.
        // Edges: 01 02 12 21 23. Stuck: 1 goes first with what came from 0:
        // 12 = (4+1)/2 = 2.5. Then 2 has all: 21 and 23 get 2 + 2.5 over 3.
        let shape = function("0:1,2 1:2 2:1,3 3:", &[]);
        check(&shape, &[1.0, 2.0, 4.0, 8.0, 16.0], (16.0 + 2.0 + 2.5) / 3.0);
        // If 2 is deeper, it goes first: 23 = (16+2)/2.
        let shape = function("0:1,2 1:2 2:1,3 3:", &[(2, 1)]);
        check(&shape, &[1.0, 2.0, 4.0, 8.0, 16.0], 9.0);
    }

    #[test]
    fn deeper_regions_go_first() {
        // The loop at 1 is left to 3. Were 3 taken first, nothing would change;
        // but a deep 2 passes on 21 before 1's other edge is averaged away.
        // 12 = (4+1)/2 = 2.5, 13 = (8+1)/2 = 4.5, 21 = (16+2.5)/2 = 9.25, then
        // 13 = (4.5+9.25)/2.
        check(&function("0:1 1L:2,3 2:1 3:", &[(2, 1)]), &[1.0, 4.0, 8.0, 16.0], 6.875);
    }
}
