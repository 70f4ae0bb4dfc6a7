//! The levels of a tree whose nodes have one width a level.
//!
//! A node of level `j` has `w·2^j` bits. The nodes of a level are the products of the level below, then the integers that are too long
//! for the level below, then a one if the level above has an odd number of nodes to take. So integers of all lengths share a tree, and
//! rows are at most twice as long as their numbers, a quarter longer on the lowest level.

/// Bits of a limb: rows are whole limbs.
const LIMB_BITS: usize = 32;

/// A level.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// Bits of a node.
    pub(super) bits: usize,
    /// Nodes that are products of the level below. They come first.
    pub(super) products: usize,
    /// The places of the integers that begin here. They follow the products.
    pub(super) leaves: Vec<usize>,
    /// All nodes.
    pub(super) nodes: usize,
}

/// The levels above at least one integer of these lengths, up to one node or as far as the engine takes a level of nodes of a width.
/// None if the engine takes nothing as long as the longest integer.
pub(super) fn plan(lengths: &[usize], takes: impl Fn(usize) -> bool) -> Option<Vec<Level>> {
    let (lowest, mut classes) = classes(lengths);
    let count = classes.len();
    let mut levels: Vec<Level> = Vec::new();
    for (j, leaves) in classes.drain(..).map(Some).chain(std::iter::repeat_with(|| None)).enumerate() {
        let bits = lowest << j;
        let below = levels.last().map_or(0, |level| level.nodes);
        if j >= count && below <= 1 {
            break;
        }
        if !takes(bits) {
            return (j >= count).then_some(levels);
        }
        if let Some(level) = levels.last_mut() {
            level.nodes = level.nodes.next_multiple_of(2);
        }
        let products = below.div_ceil(2);
        let leaves = leaves.unwrap_or_default();
        levels.push(Level { bits, products, nodes: products + leaves.len(), leaves });
    }
    Some(levels)
}

/// The bits of the lowest level, and the places of the integers of each level. The lowest one has at least one.
fn classes(lengths: &[usize]) -> (usize, Vec<Vec<usize>>) {
    let widest = lengths.iter().copied().max().unwrap_or(1).max(1);
    let total: usize = lengths.iter().sum();
    let mut lowest = widest.next_multiple_of(LIMB_BITS);
    while lowest > LIMB_BITS && 4 * lengths.len() * lowest > 5 * total {
        lowest = (lowest / 2).next_multiple_of(LIMB_BITS);
    }
    let mut classes: Vec<Vec<usize>> = Vec::new();
    for (place, length) in lengths.iter().enumerate() {
        let level = length.div_ceil(lowest).max(1).next_power_of_two().ilog2() as usize;
        if classes.len() <= level {
            classes.resize_with(level + 1, Vec::new);
        }
        classes[level].push(place);
    }
    let empty = classes.iter().take_while(|class| class.is_empty()).count();
    (lowest << empty, classes.split_off(empty))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(lengths: &[usize], most: usize) -> Option<Vec<[usize; 4]>> {
        let levels = plan(lengths, |bits| bits <= most)?;
        Some(levels.iter().map(|it| [it.bits, it.products, it.leaves.len(), it.nodes]).collect())
    }

    #[test]
    fn equal_lengths_are_a_binary_tree() {
        let tree = [[64, 0, 5, 6], [128, 3, 0, 4], [256, 2, 0, 2], [512, 1, 0, 1]];
        assert_eq!(shapes(&[50; 5], 1000), Some(tree.to_vec()));
        // The engine takes no more than 200 bits: two levels, and the upper one has no one to complete a pair.
        assert_eq!(shapes(&[50; 5], 200), Some(vec![[64, 0, 5, 6], [128, 3, 0, 3]]));
        assert_eq!((shapes(&[50; 5], 64), shapes(&[50; 5], 63)), (Some(vec![[64, 0, 5, 5]]), None));
        assert_eq!(shapes(&[7], 64), Some(vec![[32, 0, 1, 1]]));
    }

    #[test]
    fn longer_integers_begin_further_up() {
        // One of 1000 bits among a hundred of 60: level 4 has 1024 bits.
        let lengths = [[60; 50].as_slice(), &[1000], &[60; 50]].concat();
        let levels = plan(&lengths, |_| true).unwrap();
        let begin: Vec<&Vec<usize>> = levels.iter().map(|level| &level.leaves).collect();
        assert_eq!(*begin[0], [(0..50).collect::<Vec<_>>(), (51..101).collect()].concat());
        assert_eq!(begin.iter().position(|leaves| leaves.contains(&50)), Some(4));
        assert_eq!(levels.last().map(|level| level.nodes), Some(1));
        assert_eq!(plan(&lengths, |bits| bits <= 512), None);
        // None is as short as the lowest level would be.
        let levels = plan(&[70, 90], |_| true).unwrap();
        assert_eq!((levels[0].bits, levels[0].nodes), (96, 2));
    }

    /// Every integer begins once, where it fits; every node but those of the top has a place in the level above; rows are not much
    /// longer than their numbers.
    #[test]
    fn levels_hold_everything() {
        for seed in 1_usize..200 {
            let mut state = seed;
            let mut next = |below: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) % below
            };
            let most = [40, 300, 5000][seed % 3];
            let lengths: Vec<usize> = (0..=next(60)).map(|_| 1 + next(most)).collect();
            let levels = plan(&lengths, |_| true).unwrap();
            let mut places: Vec<usize> = levels.iter().flat_map(|level| level.leaves.clone()).collect();
            places.sort_unstable();
            assert_eq!(places, (0..lengths.len()).collect::<Vec<_>>());
            for (j, level) in levels.iter().enumerate() {
                assert!(level.leaves.iter().all(|place| lengths[*place] <= level.bits));
                assert!(level.products + level.leaves.len() <= level.nodes && level.bits.is_multiple_of(LIMB_BITS));
                if let Some(above) = levels.get(j + 1) {
                    assert_eq!((2 * above.products, above.bits), (level.nodes, 2 * level.bits));
                }
            }
            let longer: usize = levels[1..].iter().map(|level| level.bits * level.leaves.len()).sum();
            let own: usize = levels[1..].iter().flat_map(|level| &level.leaves).map(|place| lengths[*place]).sum();
            assert!(longer <= 2 * own, "{lengths:?}");
        }
    }
}
