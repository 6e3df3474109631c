//! A script is followed again, alone.

use super::content::SmallVersion;
use super::fates::OpFate;
use super::image::{Cell, FlashImage};
use super::live::{LifePlan, Start, live};
use super::nand::Nand;
use super::promise::Promise;
use super::rot::cost;
use super::script::{End, ScriptLife, SmallScript};
use super::small_ftl::SmallMemory;
use super::world::{self, SmallWorld};

/// What came of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The promise that was broken, if one was.
    pub broken: Option<String>,
    /// What was done, line by line.
    pub history: Vec<String>,
}

/// A device, as it was formatted.
pub(super) fn formatted(
    world: &SmallWorld,
    (nand, memory): (&mut Nand, &mut SmallMemory),
) -> Result<Start, String> {
    nand.begin(&FlashImage::new(), &[], 0);
    world.kind.format(nand, memory)?;
    Ok(Start {
        image: nand.image.clone(),
        promise: Promise::new(world.capacity),
        version: 0,
        has_failed: false,
    })
}

/// Follows a script from a formatted device on.
pub fn replay(script: &SmallScript) -> Result<Replayed, String> {
    let world = world::named(&script.world).ok_or_else(|| world::unknown(&script.world))?;
    replay_on(&world, script)
}

/// Follows a script on this device.
pub(super) fn replay_on(world: &SmallWorld, script: &SmallScript) -> Result<Replayed, String> {
    let mut nand = Nand::new(world.grid.clone());
    let mut memory = world.kind.memory();
    let mut start = formatted(world, (&mut nand, &mut memory))?;
    nand.history = Some(Vec::new());
    let mut broken = None;
    for (number, life) in script.lives.iter().enumerate() {
        if let Some(history) = &mut nand.history {
            history.push(format!("life {}: {life}", number + 1));
        }
        match follow(world, (&mut nand, &mut memory), &start, life)? {
            Ok(next) => start = next,
            Err(sentence) => {
                broken = Some(sentence);
                break;
            }
        }
    }
    Ok(Replayed { broken, history: nand.history.unwrap_or_default() })
}

/// Follows one life. The outer error: the script cannot be followed. The inner one: a promise was broken.
fn follow(
    world: &SmallWorld,
    (nand, memory): (&mut Nand, &mut SmallMemory),
    start: &Start,
    life: &ScriptLife,
) -> Result<Result<Start, String>, String> {
    let mut start = start.clone();
    if let Some(name) = &life.rot {
        let page = world.grid.page_named(name).ok_or_else(|| format!("there is no page {name}"))?;
        let cost = cost(world, &start.image, &nand.contents, page)
            .ok_or_else(|| format!("page {name} is none whose loss can be borne"))?;
        start.promise.lose_page(&cost);
        start.image.set_cell(&nand.contents, page, Cell::DEAD);
    }
    nand.begin(&start.image, &[], 0);
    nand.plan(life.happened.clone());
    let compares = life.end == End::Open;
    let recorded = life.letters.len().saturating_sub(1);
    let course = LifePlan { recorded, compares, ..LifePlan::usual(&life.letters) };
    let lived = live(world, (nand, memory), &start, course);
    let last = life.letters.len().saturating_sub(1);
    let version = start.version + life.letters.len() as SmallVersion;
    match life.end {
        End::Cut(number, fate) => {
            let photo = nand.photos.iter().find(|photo| photo.number == number).cloned();
            let Some(photo) = photo else {
                return Err(format!("the last letter of life `{life}` has no operation {number}"));
            };
            match lived.broken {
                Some((at, sentence)) if at < last => return Ok(Err(sentence)),
                _ => {}
            }
            if !OpFate::of(photo.op, &photo.image, &nand.grid).any(|possible| possible == fate) {
                let op = photo.op.told(&nand.grid);
                return Err(format!(
                    "operation {number} of life `{life}` is `{op}`: it has no fate {fate}"
                ));
            }
            let mut image = photo.image.clone();
            fate.leave(photo.op, &mut image, (&nand.grid, &nand.contents));
            let has_failed = start.has_failed || photo.failures > 0;
            let told = format!("  power fails in `{}`: {fate}", photo.op.told(&nand.grid));
            if let Some(history) = &mut nand.history {
                history.push(told);
            }
            Ok(Ok(Start { image, promise: lived.in_flight, version, has_failed }))
        }
        End::Off | End::Open => Ok(match lived.broken {
            Some((_, sentence)) => Err(sentence),
            None => Ok(Start {
                image: lived.image,
                promise: lived.promise,
                version,
                has_failed: start.has_failed || lived.failures > 0,
            }),
        }),
    }
}
