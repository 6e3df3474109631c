//! Bugs on purpose, for tests of tests and never for devices: a torture that finds nothing wrong says little until it
//! is shown what it would find. Each bug here breaks one of the rules by which acknowledged writes survive; one at a
//! time is planted, and the tests of `torture` show that it is found.
//!
//! Without the feature `seeded-bugs` all that is left of this is `planted`, which is `false` at compile time.

/// Declares the bugs, each with its name and with what it breaks, which is its documentation, too.
macro_rules! bugs {
    ($($name:ident $what:literal)* ; $($paged:ident $does:literal)*) => {
        /// A bug that can be planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Bug {
            $(#[doc = $what] $name,)*
            $(#[doc = $does] $paged,)*
        }

        #[cfg(feature = "seeded-bugs")]
        impl Bug {
            /// All of the hybrid FTL's.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// All of the page store's.
            pub const PAGED: &[Self] = &[$(Self::$paged,)*];

            /// What it does wrong.
            pub const fn what(self) -> &'static str {
                match self {
                    $(Self::$name => $what,)*
                    $(Self::$paged => $does,)*
                }
            }
        }
    };
}

bugs! {
    AcknowledgeBeforeProgram "Every sixteenth page that the host writes is acknowledged and never programmed."
    ForgetStamps "After a mount the log's copy of a sector counts, however much younger the chain's is."
    ForgetTrimStamps "After a mount the log's copy of a sector counts though it was trimmed since."
    ForgetElsewhere "After a mount a fold's word that the log has a sector counts as a copy of its own."
    ForgetCircle "A mount lets log blocks behind the head override younger ones before it."
    ForgetHeldPage "A mount does not map the last page of the log's head."
    MapBackups "A mount takes backups at the end of the log for pages of the log."
    TrustTornSummary "A log block whose summary is torn holds what the summary read before it says."
    TrustOldSeal "The seal of a checkpoint is not broken before the device is changed."
    TrustFreeBlocks "Free blocks of the chains are not erased again after a cut."
    TrustFreeLogBlocks "Free blocks of the log are not erased again after a cut."
    FillOpenChainBlock "After a cut the last log block of a chain takes more pages."
    FillOpenHead "After a cut the log's head takes more pages."
    RepeatSummary "A head closed after a cut gets a summary though a mount before may have been cut in programming it."
    ForgetYoungest "The page programmed last is not copied after a cut."
    ForgetRescued "What was copied after a cut is not written again."
    EraseRescuedEarly "What was copied after a cut is erased before it is written again."
    BelieveOldCopy "What a copy holds counts as secured though the erase of the copy may have been begun."
    TrustCommit "A commit counts without the proof that it was not torn."
    ForgetEndedFold "The copy of a fold's last page does not say that the fold was ended."
    ForgetFoldsLastPage "A fold counts without its last page."
    ForgetPartners "A fold counts though its last page may have been torn and has ruined others."
    EraseFrozenEarly "A fold erases the first of the blocks that it froze before its last page is programmed."
    BeginFoldLate "A fold does not program its first page before its chain takes a log block."
    CollectTouched "A fold takes the log's copy of a sector of which its chain has taken a copy meanwhile."
    CollectCopies "A fold takes the entry of a sector that was copied within the log after the fold took it."
    ForgetLogged "A fold that leaves sectors in the log says that the log holds none of its chain."
    ReverseChains "A mount puts the blocks of a chain in the wrong order."
    ForgetBackups "What shares cells with the page to be programmed is not copied."
    BelieveEveryBackup "Backups count whatever was programmed after them."
    ForgetTrimsPartners "A page may be programmed whose tear would ruin a trim."
    ForgetFirstPages "On a chip without cells of one bit, log and meta blocks use every page of a word line."
    StopAtLeftOutPage "A scan of a log block ends at a page that was left out."
    DropTailEarly "The log's tail is erased while the sectors of its last page still stand there alone."
    BelieveFailedPage "A page that failed to program is not copied before room is made for it elsewhere."
    AskForRoomOnce "After a page of the log has failed to program, room in the log is not asked for again."
    AskDeadDevice "The device is used after it has said that it failed."
    KeepUnproved "The log's tail keeps sectors whose entries a mount has not proved yet."
    RefreshUnproved "A weak page of the log is copied though a mount has not proved its entries yet."
    ForgetUnproved "A checkpoint does not say which entries of the log are not proved yet."
    ReuseFailing "A block to which a program has failed is not marked bad when it is erased."
    EraseUnderSeal "A block is erased while the seal of a checkpoint stands."
    LeaveFailingChain "A chain whose log block has failed is not folded for it."
    LeaveHeaderTorn "A header that is missing or torn is not rewritten."
    ;
    TrustYoungest "The page programmed last before a mount is trusted, and not done again."
    ServeUnproved "The host is served before what was done again is proved."
    ForgetFirst "The blocks of what is done again may be erased before it is proved."
    ForgetPlaces "Blocks that a map page leads to which is done again may be erased before it is."
    HideRepetition "A page that is done again does not say what it repeats."
    BeginLate "The horizon lies at the end of an epoch, and not at its beginning."
    MoveHorizonEarly "The horizon moves while entries of the epoch before are dirty still."
    TakeLastTag "A mount takes the tag of a sector that it meets last, and not the youngest."
    TakeLastLeaf "A mount takes the page of a leaf that it meets last, and not the youngest."
    TakeOldTags "A mount takes tags that are older than the map page of their leaf."
    SkipOpenBlocks "A mount looks for tags in full blocks alone."
    TrustErased "A block whose first page reads as erased is not erased before it is used."
    ForgetWordLines "A page may be programmed whose tear would ruin another that is relied upon."
    RelyLate "What the host has written is not relied upon when it is acknowledged."
    EraseUnrelied "A block is erased though copies of what it held may yet be ruined."
    ForgetUnrelied "A map page forgets old places though the new ones may yet be ruined."
    RepeatUnrelied "A page that is rewritten after a failure may be ruined by the next one."
    LeaveOutFast "A map page is written without the dirty entries of the fast area."
    TrimInRam "A trim forgets dirty entries, and leaves what the map page says."
    DropLastSlot "The last slot of a victim's pages is not copied."
    ReleaseTwice "A copy counts the place before it out twice."
    MapFirst "A map page is written before the data that it tells of."
    EraseFirst "A victim is erased while only RAM has what was to be copied."
    TrustTornMap "A map page counts as whole, whatever its check says."
    KeepReleased "A map page keeps an old pointer into a block that is used anew."
    OpenUnlisted "A block is opened that no anchor lists."
    AnchorUnrelied "An anchor tells of copies that may yet be ruined."
    AnchorUnsettled "An anchor that is written before something is done again is not void."
    TrustLastAnchor "The last anchor is not rewritten though it may have been torn."
    ReplayLate "A mount applies the records of the last anchor alone."
    ReuseFailed "A block to which a program has failed is used again."
    HeadersAtOnce "Headers that are written anew are both erased before the first is."
    LevelInNeed "The least worn block is emptied next, also where blocks are needed and it wins none."
}

/// The bug that is planted, counted from one.
#[cfg(feature = "seeded-bugs")]
static PLANTED: core::sync::atomic::AtomicU8 = core::sync::atomic::AtomicU8::new(0);

/// Plants a bug in all that this process does from now on, or none.
#[cfg(feature = "seeded-bugs")]
pub fn plant(bug: Option<Bug>) {
    let number = bug.map_or(0, |bug| bug as u8 + 1);
    PLANTED.store(number, core::sync::atomic::Ordering::Relaxed);
}

/// Whether that bug is planted.
#[cfg(feature = "seeded-bugs")]
pub(crate) fn planted(bug: Bug) -> bool {
    PLANTED.load(core::sync::atomic::Ordering::Relaxed) == bug as u8 + 1
}

/// Whether that bug is planted: never.
#[cfg(not(feature = "seeded-bugs"))]
#[inline]
pub(crate) const fn planted(_: Bug) -> bool {
    false
}
