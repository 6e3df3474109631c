//! Seeded bugs, for tests of the tests and never for devices. A torture test that finds nothing proves little until it
//! has shown what it can find. Each bug breaks one of the rules that keep acknowledged writes safe, and stands in the
//! function of that rule (`docs/RULES.md`). One at a time is enabled, and the tests of `torture` show that it is found.
//!
//! Without the feature `seeded-bugs` only `planted` is left, which is `false` at compile time.

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
    ForgetStamps "After a mount the log's copy of a sector is used even if the chain's is newer."
    DoubtNewEntries "An entry of the log that was made since the mount gives way to an unreadable page of the chain."
    ForgetTrimStamps "After a mount the log's copy of a sector is used although it was trimmed since."
    ForgetElsewhere "After a mount a slot that a fold marked as elsewhere counts as a copy."
    ForgetCircle "A mount lets log blocks behind the head override newer ones before it."
    ForgetHeldPage "A mount does not map the last page of the log's head."
    OverrideUnreadable "A mount lets the last page of an open log block override a newer one that cannot be read."
    AskNextPageOnly "Two unreadable pages of the log in a row count as torn, so that the first reads as older."
    GiveUpAtFullTable "A mount gives up if the hash table has no cell for what the log holds, because a page was lost."
    MapBackups "A mount takes backups at the end of the log for pages of the log."
    TrustTornSummary "For a log block with a torn summary, the mount uses the summary it read before."
    TrustOldSeal "The seal of a checkpoint is not broken before the device is changed."
    TrustFreeBlocks "Free blocks of the chains are not erased again after a power cut."
    TrustFreeLogBlocks "Free blocks of the log are not erased again after a power cut."
    FillOpenChainBlock "After a power cut the last log block of a chain takes more pages."
    FillOpenHead "After a power cut the log's head takes more pages."
    RepeatSummary "A head closed after a power cut gets a summary although an earlier mount may have been cut in it."
    RepeatFailedSummary "A summary is programmed once more where one failed, if the page after it has died."
    ForgetYoungest "The last programmed page is not copied after a power cut."
    ForgetRescued "Data copied after a power cut is not written again."
    EraseRescuedEarly "Data copied after a power cut is erased before it is written again."
    BelieveOldCopy "A rescue copy counts as valid although its erase may have begun."
    TrustCommit "A commit counts without the proof that it is not torn."
    ForgetEndedFold "The copy of a fold's last page does not say that the fold was finished."
    ForgetFoldsLastPage "A fold counts as finished without its last page."
    DistrustTail "Two unreadable pages in the log's last block always count as the start of its erase."
    AskReadablePages "Of the log's last block, only pages that can be read show that its erase was not begun."
    MarkBeforeFold "The target of a fold that failed is marked bad before the next fold begins."
    HideDriverError "The driver fails while a fold begins again, and the request tells of it as of an earlier failure."
    TrustFailedFold "A fold counts as finished by its last page although another was begun because it failed."
    EraseSecondFold "A mount erases a fold that was begun because another failed before it erases that other."
    ForgetPartners "A fold counts as finished although its last page may be torn and has corrupted others."
    EraseFrozenEarly "A fold erases the first of its frozen blocks before its last page is programmed."
    EraseFailedFold "The target of a fold whose last page failed is erased, not marked bad, if no other block is left."
    BeginFoldLate "A fold does not program its first page before its chain takes a log block."
    CollectTouched "A fold takes the log's copy of a sector that was written to its chain meanwhile."
    CollectCopies "A fold takes the entry of a sector that was copied within the log after the fold took it."
    ForgetLogged "A fold that leaves sectors in the log records that the log holds none of its chain."
    ReverseChains "A mount puts the blocks of a chain in the wrong order."
    EndangerReplacement "A torn program may corrupt what was written in place of an unstable page."
    ForgetCopiesAtEnd "A device that is read-only before a copy is written again does not read from it."
    TrustTornSwitch "A block whose torn last page corrupted others counts as a data block after a second cut."
    TrustFoldAlone "An interrupted fold counts as finished if its chain has no other readable block."
    ForgetCopiedTrims "A fold that is alone in its chain is not doubted while a trim is written again from a copy."
    KeepDataMark "A chain whose only block turns out to be stale still counts as one that has a data block."
    ForgetBackups "Paired pages of the page to be programmed are not backed up."
    BelieveEveryBackup "Backups are used whatever was programmed after them."
    AssumeSummary "The summary of a log block counts as programmed after its last page although that failed."
    ForgetTrimsPartners "A page is programmed although a torn program would corrupt a trim."
    ForgetFirstPages "On a chip without single-bit cells, log and meta blocks use every page of a word line."
    StopAtLeftOutPage "A scan of a log block ends at a skipped page."
    DropTailEarly "The log's tail is erased while it still has the only copy of the sectors of its last page."
    BelieveFailedPage "A page that failed to program is not copied before space for it is freed elsewhere."
    AskForRoomOnce "After a failed program in the log, space in the log is not requested again."
    AskDeadDevice "The device is used after it reported a failure."
    KeepUnproved "The log's tail keeps sectors whose entries are not proved yet after a mount."
    RefreshUnproved "A weak page of the log is copied although its entries are not proved yet after a mount."
    ForgetUnproved "A checkpoint does not record which entries of the log are not proved yet."
    ReuseFailing "A block in which a program failed is not marked bad when it is erased."
    EraseUnderSeal "A block is erased before the seal of a checkpoint is broken."
    LeaveFailingChain "A chain is not folded after its log block failed."
    OneHeaderCopy "A header block has only one copy of the header."
    MendListLate "A mount changes the device before it repairs the list of blocks that could not be marked."
    MendInDoubt "The older of both headers is rewritten though only one copy of the younger one can be read."
    LeaveHeaderTorn "A header that is missing or torn is not rewritten."
    ;
    TrustYoungest "The last page programmed before a mount is trusted, and not repeated."
    ServeUnproved "The host is served before a repeated page is proved."
    ForgetFirst "The blocks of repeated pages may be erased before the proof."
    ForgetPlaces "Blocks that a repeated map page points to may be erased before it is repeated."
    DoubtNeeded "A mount ignores the map page to be repeated although the one before it was being erased."
    DoubtAcknowledged "A mount ignores the map page to be repeated although the one before it was erased long ago."
    TrustCounted "A map page that a mount counts on, for the one before it is gone, is not repeated."
    KeepHorizon "A mount takes the horizon of a map page that it gives up."
    AskProof "A mount looks for the horizon in the proof behind the last map page, which has none."
    HoldUnreadable "A mount keeps a half-erased block for the previous copy of a sector of the page to be repeated."
    LoseRest "A device that takes no more writes does not look for sectors of which its table has no entry."
    WriteBesideRest "A device that lacks the blocks for the rest writes map pages, and takes writes again."
    IgnoreSecondCopy "A header whose first copy cannot be read counts as missing, though its second one can be read."
    HeadersInDoubt "The older of two headers is rewritten though only one copy of the younger one can be read."
    CompleteUnread "A header counts as complete by a second copy that cannot be read."
    LoseLastHeader "A header that lacks a copy is rewritten although the other one is not there."
    TrustPart "A mount takes a part of a repeated page for the page."
    HideRewrite "A page that is programmed again after a failure does not say what it repeats."
    TrustRewrite "The host is told of a page that was programmed again after a failure before it is proved."
    ReplayBadRing "A mount applies anchors in a bad block of the ring, and their numbers begin again at 0."
    HideRepetition "A repeated page does not say what it repeats."
    BeginBehind "After a mount the epoch begins behind the page to be repeated."
    BeginLate "The horizon lies at the end of an epoch, and not at its beginning."
    MoveHorizonEarly "The horizon moves while entries of the previous epoch are still dirty."
    RenewEpoch "A dirty entry is of the epoch in which its sector was last written."
    KeepFirstAttempt "A mount keeps a map page that may be a failed program's although the one in its place is dead."
    DoubtRenewed "A map page that the repair after a power cut wrote last is not proved."
    TrustStalePass "A mount goes on although a page that it took for the newest one died meanwhile."
    MissMapBehind "A mount looks for map pages only in blocks that begin with one."
    TakeLastTag "A mount uses the tag of a sector that it meets last, not the newest."
    TakeLastLeaf "A mount uses the page of a leaf that it meets last, not the newest."
    TakeOldTags "A mount uses tags that are older than the map page of their leaf."
    SkipOpenBlocks "A mount looks for tags in full blocks alone."
    TrustErased "A block whose first page reads as erased is not erased before it is used."
    ForgetWordLines "A page is programmed although a torn program would corrupt a page that is relied upon."
    RelyLate "What the host has written is not relied upon when it is acknowledged."
    EraseUnrelied "A block is erased although copies of its data may still be corrupted."
    ForgetUnrelied "A map page drops old addresses although the pages at the new ones may still be corrupted."
    RepeatUnrelied "A page that is rewritten after a failure may be corrupted by the next program."
    LeaveOutFast "A map page is written without the dirty entries of the fast area."
    TrimInRam "A trim forgets dirty entries, and leaves what the map page says."
    DropLastSlot "The last slot of a victim's pages is not copied."
    ReleaseTwice "A copy releases the reference to the old address twice."
    MapFirst "A map page is written before the data that it points to."
    EraseFirst "A victim is erased while only RAM has its valid data."
    TrustTornMap "A map page counts as intact, whatever its check says."
    KeepReleased "A map page keeps an old pointer into a block that is reused."
    OpenUnlisted "A block is opened that no anchor lists."
    AnchorUnrelied "An anchor records copies that may still be corrupted."
    WalkUntold "The walk of the anchors names pages that no anchor has told, and that may still be corrupted."
    EndWalkEarly "A walk is complete although what it passed over has not been told."
    TellMore "An anchor tells more than the one whose program failed, and the base comes before both."
    LeaveClosed "An anchor tells nothing of pages that were programmed last to a block that was closed."
    MissUntold "A mount ignores the pages that the last anchor left untold."
    AnchorUnsettled "An anchor that is written while a repetition is pending is not void."
    AnchorFailing "An anchor that is written before a page whose program failed is programmed again is not void."
    TrustLastAnchor "The last anchor is not rewritten although it may be torn."
    FreeByUntold "A mount takes blocks for free that pages freed which the last anchor leaves untold."
    KnowOpened "A mount takes a block that was opened since the last anchor for a free one."
    KnowForEver "A block that a mount knew to be free and that was opened since counts as free when it is full."
    CountTwice "What changes in a map page that a mount has not counted yet is counted, and then again."
    SeekBase "A mount takes an anchor whose program failed for the base, which cannot be read any more."
    ReplayLate "A mount applies only the records of the last anchor."
    ReuseFailed "A block in which a program failed is used again."
    ForgetBlank "What refers to a block is forgotten when the block is opened in need."
    OpenLeaf "A block is opened in need although the unreadable page of a leaf is there."
    OpenBeside "With few free blocks, every stream opens a block of its own after a power cut."
    KeepOpenedVictim "A block opened for copies that its own data was to fill up counts as an examined victim."
    DecideStreamAnew "Where a page of copies goes is decided anew when it is filled, though another page may take less."
    BelieveStream "A block that was opened for map pages counts as full of them, though sectors are in it."
    HeadersAtOnce "Both headers are erased before the first is rewritten."
    KeepFailedRead "A mount by anchors uses the tag of the page that it read before one that it cannot read any more."
    FillSmallTable "A mount with a smaller table leaves no space for the page to be repeated."
    ForgetRest "The dirty entries that do not fit into a mount's table are forgotten."
    FreeRest "Blocks with dirty entries that do not fit into a mount's table count as free."
    TrustOldFormat "A format erases the headers alone, so that pages of an earlier one may count."
    MarkUnrelied "A block is marked bad although copies of its data may still be corrupted."
    TrustOlderAnchor "A mount trusts an anchor although an unreadable page follows it."
    EraseReplaced "The block of a map page is erased before anything is programmed after the page that replaced it."
    EraseLastAnchor "The block of the last anchor is erased before another anchor is on flash."
    LevelInNeed "The least worn block is emptied next, even if blocks are short and this frees none."
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
