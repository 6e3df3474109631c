//! The effect of the SLC's size: Figures 8 and 12b, Table 4.

use sim::{Failure, show};

use super::page::Page;
use super::paper::{ENDURANCE_RATIO, RS, TABLE_4, Workload};
use super::runs::{Results, Run, SLC};
use crate::output::plot::{Axis, Chart, Shape};

/// MiB of SLC in Figure 8.
pub(super) const SIZES: [u64; 5] = [32, 64, 128, 256, 512];

/// Those of Figure 12b begin where the throttle is needed.
const SIZES_OF_WEAR: [u64; 7] = [8, 16, 32, 64, 128, 256, 512];

pub(super) const DEVICES: [&str; 3] = ["c1", "c2", "c3"];

fn over_sizes(workload: Workload, device: &'static str, sizes: &[u64]) -> Vec<Run> {
    let hybrids = sizes.iter().map(|size| Run::hybrid(workload, device, *size));
    [Run::conventional(workload, device)].into_iter().chain(hybrids).collect()
}

/// All lines of Figure 8.
pub(super) fn lines() -> impl Iterator<Item = (Workload, &'static str)> {
    Workload::ALL.into_iter().flat_map(|workload| DEVICES.map(|device| (workload, device)))
}

pub(super) fn speed_runs() -> Vec<Run> {
    let lines = lines().flat_map(|(workload, device)| over_sizes(workload, device, &SIZES));
    lines.chain(wear_runs()).collect()
}

#[allow(clippy::cast_precision_loss)] // Sizes of a chart.
pub(super) fn speed(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 8: speed-up (RS) by size of the SLC");
    let heads = ["", "32 MiB", "64 MiB", "128 MiB", "256 MiB", "512 MiB", "paper, 256 MiB"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("times as fast as without SLC");
    let mut chart = Chart::new("Speed-up by size of the SLC", Axis::bytes("SLC"), axis);
    for (workload, device) in lines() {
        let name = format!("{}, {}", device.to_uppercase(), workload.name());
        let mut row = [const { String::new() }; 7];
        let mut points = Vec::new();
        for (cell, size) in row[1..].iter_mut().zip(SIZES) {
            let rs = results.rs(&Run::hybrid(workload, device, size))?;
            *cell = format!("{rs:.2}");
            points.push(((size << 20) as f64, rs));
        }
        let paper = RS.iter().find(|(at, of, _)| *at == device && *of == workload);
        row[6] = paper.map_or("-".into(), |(_, _, rs)| format!("{rs:.2}"));
        row[0].clone_from(&name);
        rows.push(row);
        if device == "c3" {
            rows.push(in_paper(workload));
        }
        chart = chart.with(name, Shape::Line, points);
    }
    page.table(&rows);
    page.chart("fig8", "Figure 8", &chart.svg())?;
    page.say(
        "C1 has 172,032 blocks of 128 KiB, more than the two bytes an entry number that the paper counts for its \
         tables (section 4.2): its block numbers have four bytes here.",
    );
    page.say(&format!(
        "The paper's plot has no figures, but ES is 1 / RS, so Table 4 gives those of C3. Under ntfs, the share of the \
         gain of 512 MiB that 64 MiB already bring is {:.0} % in the paper, and {:.0} % here.",
        early(|size| Ok(1.0 / in_table_4(Workload::Ntfs, size)))?,
        early(|size| results.rs(&Run::hybrid(Workload::Ntfs, "c3", size)))?,
    ));
    throttled(page, results)?;
    page.say(&parted(results)?);
    page.say(
        "How far RS rises depends on which writes cause the folds of C3'. If small writes scattered over the disk \
         open log blocks that are folded nearly empty, the SLC absorbs them and gains much; if fragments of large \
         files do, it cannot. Table 3 says how many folds there are, not what causes them, so the rows of C3' \
         bound RS only loosely.",
    );
    Ok(())
}

/// The ES of C3 in the paper.
fn in_table_4(workload: Workload, size: u64) -> f64 {
    let row = TABLE_4.iter().find(|(of, ..)| *of == size);
    row.map_or(f64::NAN, |(_, _, energy)| energy[workload as usize])
}

/// RS of C3 in the paper, from its energy.
fn in_paper(workload: Workload) -> [String; 7] {
    let mut row = [const { String::new() }; 7];
    row[0] = format!("C3, {}, paper: 1 / ES", workload.name());
    for (cell, size) in row[1..].iter_mut().zip(SIZES) {
        *cell = format!("{:.2}", 1.0 / in_table_4(workload, size));
    }
    row
}

/// The share of the gain of 512 MiB that 64 MiB have, in percent.
fn early(rs: impl Fn(u64) -> Result<f64, Failure>) -> Result<f64, Failure> {
    Ok((rs(SIZES[1])? - 1.0) / (rs(SIZES[4])? - 1.0) * 100.0)
}

/// What the throttle turned away, by size.
fn throttled(page: &mut Page, results: &Results) -> Result<(), Failure> {
    let heads = ["writes throttled", "32 MiB", "64 MiB", "128 MiB", "256 MiB", "512 MiB"];
    let mut rows = vec![heads.map(String::from)];
    for (workload, device) in lines() {
        let mut row = [const { String::new() }; 6];
        row[0] = format!("{}, {}", device.to_uppercase(), workload.name());
        for (cell, size) in row[1..].iter_mut().zip(SIZES) {
            *cell = show::count(results.throttled(&Run::hybrid(workload, device, size))?);
        }
        rows.push(row);
    }
    page.table(&rows);
    Ok(())
}

/// Where C2 and C3 diverge: they differ only in the endurance of the MLC, and so in what the throttle rejects.
fn parted(results: &Results) -> Result<String, Failure> {
    let mut told = Vec::new();
    for size in SIZES {
        let [c2, c3] = ["c2", "c3"].map(|device| Run::hybrid(Workload::Ntfs, device, size));
        let (of_c2, of_c3) = (results.rs(&c2)?, results.rs(&c3)?);
        if (of_c2 - of_c3).abs() >= 0.005 {
            told.push(format!("with {size} MiB, {of_c2:.2} and {of_c3:.2}"));
        }
    }
    let told = if told.is_empty() { "nowhere".into() } else { told.join("; ") };
    Ok(format!(
        "C2 and C3 differ only in the endurance of their MLC, so their lines diverge only where the throttle \
         rejects writes on one of them. Section 5.5 says that this happens with a small SLC, and gives no size. \
         Here they diverge under ntfs: {told}. Figure 12b has smaller sizes."
    ))
}

pub(super) fn wear_runs() -> Vec<Run> {
    let over =
        |(device, _): (&'static str, f64)| over_sizes(Workload::Ntfs, device, &SIZES_OF_WEAR);
    ENDURANCE_RATIO.into_iter().flat_map(over).collect()
}

#[allow(clippy::cast_precision_loss)] // Sizes of a chart.
pub(super) fn wear(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Figure 12b: erases of an SLC block for each of an MLC block (BW), NTFS");
    let heads = ["MiB of SLC", "C2", "C2, writes throttled", "C3", "C3, writes throttled"];
    let mut rows = vec![heads.map(String::from)];
    let axis = Axis::linear("erases, SLC by MLC").from(0.0);
    let mut chart = Chart::new("Wear of the SLC against the MLC", Axis::bytes("SLC"), axis);
    for size in SIZES_OF_WEAR {
        let mut row = [const { String::new() }; 5];
        row[0] = size.to_string();
        for (at, (device, _)) in ENDURANCE_RATIO.into_iter().enumerate() {
            let run = Run::hybrid(Workload::Ntfs, device, size);
            row[2 + 2 * at] = show::count(results.throttled(&run)?);
            let run = results.result(&run)?;
            row[1 + 2 * at] = show::maybe(run.against(run).bw, |bw| format!("{bw:.1}"));
        }
        rows.push(row);
    }
    for (device, most) in ENDURANCE_RATIO {
        let point = |size: u64| -> Result<(f64, f64), Failure> {
            let run = results.result(&Run::hybrid(Workload::Ntfs, device, size))?;
            Ok(((size << 20) as f64, run.against(run).bw.unwrap_or(0.0)))
        };
        let points = SIZES_OF_WEAR.into_iter().map(point).collect::<Result<_, _>>()?;
        let ends = [SIZES_OF_WEAR[0], SIZES_OF_WEAR[SIZES_OF_WEAR.len() - 1]];
        let bound = ends.map(|size| ((size << 20) as f64, most));
        let name = device.to_uppercase();
        chart = chart.with(name.clone(), Shape::Line, points).with(
            format!("{name}, endurance ratio"),
            Shape::Line,
            bound.into(),
        );
    }
    page.table(&rows);
    page.chart("fig12b", "Figure 12b", &chart.svg())?;
    let over = over_ratio(results)?;
    let over = if over.is_empty() {
        "BW never exceeds the ratio.".into()
    } else {
        format!("BW exceeds the ratio on {}.", over.join(", "))
    };
    page.say(&format!(
        "The paper: BW is held at the endurance ratio, 10 on C2 and 20 on C3, with up to 16 MiB of SLC, and is below \
         it with more than 32 MiB. Ours: {over} BW is the mean of all blocks; the first blocks of the SLC hold the \
         FTL's own pages, a replay does not erase them, and the smaller the SLC, the larger is their share. The \
         throttle acts from a lead of one erase of each log block on, and closes the log at two.",
    ));
    Ok(())
}

/// Where BW is above the endurance ratio.
pub(super) fn over_ratio(results: &Results) -> Result<Vec<String>, Failure> {
    let mut over = Vec::new();
    for (device, most) in ENDURANCE_RATIO {
        for size in SIZES_OF_WEAR {
            let run = results.result(&Run::hybrid(Workload::Ntfs, device, size))?;
            let name = format!("{} with {size} MiB", device.to_uppercase());
            over.extend(run.against(run).bw.filter(|bw| *bw > most).map(|_| name));
        }
    }
    Ok(over)
}

pub(super) fn energy_runs() -> Vec<Run> {
    Workload::ALL.into_iter().flat_map(|workload| over_sizes(workload, "c3", &SIZES)).collect()
}

pub(super) fn energy(page: &mut Page, results: &Results) -> Result<(), Failure> {
    page.heading("Table 4: price (EC) and energy (ES) of C3");
    let heads = [
        "MiB of SLC",
        "EC, paper",
        "EC, ours",
        "ES ntfs, paper",
        "ES ntfs, ours",
        "ES ext3, paper",
        "ES ext3, ours",
    ];
    let mut rows = vec![heads.map(String::from)];
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    for (size, price, energy) in TABLE_4 {
        let mut row = [const { String::new() }; 7];
        (row[0], row[1]) = (size.to_string(), percent(price));
        for workload in Workload::ALL {
            let run = Run::hybrid(workload, "c3", size);
            let ratios =
                results.result(&run)?.against(results.result(&super::runs::base_of(&run))?);
            let at = 3 + 2 * workload as usize;
            row[2] = show::maybe(ratios.ec, percent);
            row[at] = percent(energy[workload as usize]);
            row[at + 1] = show::maybe(ratios.es, percent);
        }
        rows.push(row);
    }
    page.table(&rows);
    page.say(&format!(
        "Energy is voltage times current times time of every operation, so that ES follows 1 / RS, here as in \
         the paper (at {SLC} MiB, 1 / 1.84 is 54.3 %)."
    ));
    Ok(())
}
