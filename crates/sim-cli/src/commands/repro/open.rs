//! What the paper leaves open, and our choices.

use ftl_core::Config;
use ftl_iface::Bytes;
use sim::show;

use super::page::Page;

/// The section: parameters, and what each factor counts.
pub(super) fn write(page: &mut Page) {
    page.heading("What the paper leaves open");
    page.say(
        "The paper does not say how these are done, so whoever builds its disk must choose. The table of the \
         baseline's freedoms, below, shows how much the choices for the block chains change the figures.",
    );
    page.words(&parameters(&Config::HYBRID));
    page.heading("What each factor counts");
    page.say(
        "Section 4.1 names the factors, but does not say what a hit is, or which writes and folds count. Ours:",
    );
    page.words(&factors());
}

/// An open point, what the paper says, and our choice.
fn parameters(config: &Config) -> Vec<[String; 3]> {
    let limits = config.filter.limits(config.sector_bytes);
    let limits = limits.map_or([0; 2], |limits| limits.map(Bytes::get));
    let [initial, largest] = limits.map(|bytes| show::size(bytes.into()));
    let sector = show::size(config.sector_bytes.get().into());
    let ours = [
        sector,
        initial,
        largest,
        format!("{} at most", config.chain_log_blocks_max),
        config.mapping_cache_entries.to_string(),
        format!("at {} free blocks", config.free_blocks_low),
        format!("{} copies for a page written", config.copies_per_page),
        format!("{}, linear", config.index.probes),
    ];
    let head = ["", "the paper", "ours"].map(String::from);
    let counted = COUNTED
        .iter()
        .zip(ours)
        .map(|((what, paper), ours)| [*what, *paper, &ours].map(String::from));
    let rules = RULES.iter().map(|rule| rule.map(String::from));
    std::iter::once(head).chain(counted).chain(rules).collect()
}

/// Points that are numbers of the configuration, and what the paper says of them.
const COUNTED: [(&str, &str); 8] = [
    (
        "sector that is mapped (3.5, 5.4)",
        "as large as a page in the text, 512 bytes in 5.4, which contradict Table 3",
    ),
    ("threshold of the filter at first (3.2)", "not told"),
    ("largest write that may be hot (3.2)", "no limit but the smaller heap of sizes"),
    ("log blocks of a chain (3.5)", "\"another log block is created\""),
    ("maps in the cache (3.5)", "\"a small cache\""),
    ("when folding begins (3.5)", "as spare blocks get few"),
    ("how much of a fold a write does (3.5)", "not told"),
    ("order and number of probes (3.3)", "eight linear ones recommended (5.4)"),
];

/// Points that are rules: what the paper says, and our choice.
const RULES: [[&str; 3]; 17] = [
    ["when the filter's counts fade (3.2)", "not told", "halved each 1,000 writes"],
    [
        "how the two means are found (3.2)",
        "Algorithm 1",
        "the best split of the classes, which the algorithm approaches",
    ],
    [
        "small writes that are few (3.2)",
        "not told",
        "a cluster of under a sixteenth of the writes, or next to the other one, is none of its own",
    ],
    [
        "a write smaller than a page of the MLC (3.5)",
        "not told",
        "takes a page of a log block for itself",
    ],
    [
        "which chain is folded (3.5)",
        "\"low space utilization for a long period\", without a rule",
        "the next that was not written for a turn of the hand",
    ],
    [
        "throttle on a new device (3.4)",
        "rw_s ≥ rw_m holds at 0 ≥ 0",
        "from one erase of each log block on",
    ],
    [
        "sectors so hot that they never leave the log (3.4)",
        "\"not affected\" by the throttle",
        "at a lead of two erases of each log block the log is closed to them, too, so that BW is bounded",
    ],
    ["step of k (3.4)", "100 blocks", "100 of 2,048 blocks, in proportion"],
    ["least k (3.4)", "not told", "as many blocks as the log needs to make progress"],
    [
        "\"for a period of time\" (3.4)",
        "not told",
        "1,000 requests more with the throttle active than without",
    ],
    [
        "pools of wear leveling at first (5.5)",
        "not told",
        "all blocks are hot; one is cold when it is behind by more than twice TH",
    ],
    [
        "a log of which nothing may leave (3.6)",
        "not told",
        "a quarter of each tail block's pages leaves in any case",
    ],
    [
        "when the share of updates decreases notably (3.6)",
        "not told",
        "under three quarters of the mean of some 16,000 requests",
    ],
    [
        "where the FTL's own pages stand",
        "no mount is described",
        "headers and a checkpoint in the first blocks of the SLC; the last page of a log block lists its sectors",
    ],
    ["what a loss of power ruins", "not told", "nothing: pages that share cells are not guarded"],
    ["reads of the traces (5.1)", "not told", "40 in a hundred requests"],
    [
        "writes of the traces (5.3.2)",
        "1,534,627 under ntfs; whether of one pass is not told, nor how many under ext3",
        "as many in a pass under both",
    ],
];

fn factors() -> Vec<[String; 2]> {
    let rows = [
        ("", "counts"),
        ("alpha", "sectors of host writes that entered the SLC, by all that the host wrote"),
        (
            "n1",
            "sectors of 2 KiB, a page each, still valid in a tail block of the SLC when it is reclaimed",
        ),
        ("n2", "of these, the ones copied to the head"),
        (
            "n3",
            "pages that a scan of a chain reads, for a write, a read or a fold: those of its log blocks, and \
             the erased \
             one at which a scan ends. Section 3.5 has the data block scanned, too; but its 128 pages are more than \
             the 48.4 of Table 3",
        ),
        ("n4", "blocks that a fold frees and that are erased; moves of wear leveling do not count"),
        (
            "p1",
            "pages of host writes to a chain that has log blocks and whose map was not in the cache, by all pages of \
             host writes to chains: a chain of a data block alone is a hit, since nothing need be scanned",
        ),
        (
            "p2",
            "folds, by pages of host writes to chains; a log block in order that becomes the data block is no fold",
        ),
    ];
    rows.map(|(name, counts)| [name, counts].map(String::from)).into()
}
