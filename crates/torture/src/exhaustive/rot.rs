//! Pages that were good and become unreadable by themselves, between two mounts, and what that may cost.

use super::content::{Content, Contents};
use super::grid::PageAt;
use super::image::{FlashImage, Read};
use super::promise::Cost;
use super::small_ftl::Kind;
use super::world::SmallWorld;
use crate::on_flash::{PageContent, Purpose};

/// What may be lost with this page; `None` if it is not a good page, or the FTL need not bear its loss.
pub(super) fn cost(
    world: &SmallWorld,
    image: &FlashImage,
    contents: &Contents,
    page: PageAt,
) -> Option<Cost> {
    let content = content(image, contents, page)?;
    let (data, spare) = (content.data(), content.spare());
    match world.flash.purpose(world.grid.block_at(page)) {
        Purpose::Headers => both_headers(world, image, contents).then_some(Cost::Nothing),
        Purpose::Anchors => Some(Cost::Nothing),
        Purpose::Store if world.ftl_is_hybrid() => None,
        Purpose::Store => match world.flash.kept(data, spare, Kind::KEY)? {
            PageContent::Nothing => Some(Cost::Nothing),
            PageContent::Data => Some(Cost::Held(content.sectors().collect())),
            PageContent::Map => world.flash.range(data, spare, Kind::KEY).map(Cost::Range),
        },
    }
}

/// The content of a page that reads well, and goes on to.
fn content<'a>(image: &FlashImage, contents: &'a Contents, page: PageAt) -> Option<&'a Content> {
    let cell = image.cell(page);
    match cell.read() {
        Read::Content(id) if !cell.is_unstable() => Some(contents.get(id)),
        _ => None,
    }
}

/// Whether both headers are good, so that one of them may go.
fn both_headers(world: &SmallWorld, image: &FlashImage, contents: &Contents) -> bool {
    let firsts = (0..world.grid.pages() as PageAt).filter(|page| {
        world.grid.index_of(*page) == 0
            && world.flash.purpose(world.grid.block_at(*page)) == Purpose::Headers
            && !image.block(world.grid.block_of(*page)).bad
    });
    let is_header = |page: PageAt| {
        content(image, contents, page).is_some_and(|content| {
            world.flash.is_header(content.data(), content.spare(), Kind::KEY)
        })
    };
    firsts.filter(|page| is_header(*page)).count() == 2
}
