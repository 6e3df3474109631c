//! A profile as text, as JSON, and as charts.

use std::io::Write;
use std::path::Path;

use sim::input::profile::{CLASSES, Profile, SECTOR};
use sim::{Failure, show};

use crate::base::files;
use crate::output::json;
use crate::output::plot::{Axis, Chart, Scale, Shape};
use crate::output::table::{Edge, Table};

/// Writes the profile: JSON if requested, else tables.
pub(super) fn write(
    profile: &Profile,
    trace: &str,
    json: Option<&Path>,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    let Some(path) = json else {
        return text(profile, trace, out);
    };
    let json = json::text(profile);
    if path.as_os_str() == "-" {
        return Ok(out.write_all(&json)?);
    }
    files::replace(path, &json)?;
    text(profile, trace, out)
}

/// The paper's small writes, in sectors.
const SMALL: u64 = 8;

fn text(profile: &Profile, trace: &str, out: &mut dyn Write) -> Result<(), Failure> {
    let (writes, reads) = (show::count(profile.writes), show::count(profile.reads));
    writeln!(out, "{trace}: {writes} writes, {reads} reads")?;
    writeln!(
        out,
        "{:.1} % of the writes have {SMALL} sectors at most\n\
         {} written to {} of the disk, {} read\n",
        profile.share_up_to(SMALL) * 100.0,
        show::about(profile.bytes_written),
        show::about(profile.bytes_touched),
        show::about(profile.bytes_read)
    )?;
    writeln!(out, "By size, in sectors of {SECTOR} bytes (update ratio: written / distinct):")?;
    let heads = ["writes", "share", "update ratio", "reads"];
    let mut table = Table::new(
        [("up to", Edge::Right)].into_iter().chain(heads.map(|head| (head, Edge::Right))),
    );
    for size in profile.sizes.iter().filter(|size| size.writes + size.reads > 0) {
        table.row([
            show::count(size.sectors_most),
            show::count(size.writes),
            percent(size.writes, profile.writes),
            show::maybe(size.update_ratio, |ratio| format!("{ratio:.2}")),
            show::count(size.reads),
        ]);
    }
    table.write(out)?;
    writeln!(out, "\nSectors by how often they were written, and read:")?;
    let heads = [("times", Edge::Right), ("written", Edge::Right), ("read", Edge::Right)];
    let mut table = Table::new(heads);
    for hits in profile.hits.iter().filter(|hits| hits.sectors_written + hits.sectors_read > 0) {
        let times = match hits.times_least {
            1 => "1".into(),
            least if least == 1 << (CLASSES - 1) => format!("{} or more", show::count(least)),
            least => format!("{} to {}", show::count(least), show::count(2 * least - 1)),
        };
        table.row([times, show::count(hits.sectors_written), show::count(hits.sectors_read)]);
    }
    Ok(table.write(out)?)
}

#[allow(clippy::cast_precision_loss)] // One digit after the point is shown.
fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".into() } else { format!("{:.1} %", part as f64 / whole as f64 * 100.0) }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

/// The four charts of Figure 7, each with the name of its file.
#[allow(clippy::cast_precision_loss)] // A chart is not that exact.
pub(crate) fn charts(profiles: &[(&str, &Profile)]) -> [(&'static str, String); 4] {
    let sizes = || Axis::new("size of the request, in sectors of 512 bytes", Scale::Log2, whole);
    let times = |verb| Axis::new(format!("times a sector was {verb}"), Scale::Log2, whole);
    let draw = |chart: Chart, points: fn(&Profile) -> Vec<(f64, f64)>| {
        let add = |chart: Chart, (name, profile): &(&str, &Profile)| {
            chart.with(*name, Shape::Line, points(profile))
        };
        profiles.iter().fold(chart, add).svg()
    };
    [
        (
            "sizes",
            draw(
                Chart::new("Writes by size", sizes(), Axis::linear("writes").from(0.0)),
                |profile| {
                    let sizes = profile.sizes.iter().take(SIZES_SHOWN);
                    sizes.map(|size| (size.sectors_most as f64, size.writes as f64)).collect()
                },
            ),
        ),
        (
            "updates",
            draw(
                Chart::new(
                    "Update ratio by size",
                    sizes(),
                    Axis::log("sectors written / distinct"),
                ),
                |profile| {
                    let sizes = profile.sizes.iter().take(SIZES_SHOWN);
                    let ratio =
                        sizes.map(|size| Some((size.sectors_most as f64, size.update_ratio?)));
                    ratio.flatten().collect()
                },
            ),
        ),
        (
            "write-hits",
            draw(
                Chart::new("Sectors by write hits", times("written"), Axis::log("sectors")),
                |profile| {
                    let hits = profile.hits.iter().filter(|hits| hits.sectors_written > 0);
                    hits.map(|hits| (hits.times_least as f64, hits.sectors_written as f64))
                        .collect()
                },
            ),
        ),
        (
            "read-hits",
            draw(
                Chart::new("Sectors by read hits", times("read"), Axis::log("sectors")),
                |profile| {
                    let hits = profile.hits.iter().filter(|hits| hits.sectors_read > 0);
                    hits.map(|hits| (hits.times_least as f64, hits.sectors_read as f64)).collect()
                },
            ),
        ),
    ]
}

/// The paper's figure ends at 1,024 sectors.
const SIZES_SHOWN: usize = 11;
