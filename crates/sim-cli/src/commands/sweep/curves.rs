//! Curves: a figure of each system and workload over the SLC's size.

use std::collections::{BTreeMap, BTreeSet};

use sim::engine::sweep::Row;

/// A figure of a system and a workload, by the SLC's size. Means over all seeds.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) points: BTreeMap<u64, f64>,
}

/// The rows of each device, in the plan's order.
pub(super) fn by_device<'a, 'r>(rows: &'r [Row<'a>]) -> Vec<(&'a str, Vec<&'r Row<'a>>)> {
    let mut devices: Vec<(&str, Vec<&Row<'a>>)> = Vec::new();
    for row in rows {
        let device = row.run.device.as_str();
        match devices.iter_mut().find(|(known, _)| *known == device) {
            Some((_, rows)) => rows.push(row),
            None => devices.push((device, vec![row])),
        }
    }
    devices
}

/// Sums and counts by size, to take means over seeds.
type CurveSums = BTreeMap<u64, (f64, f64)>;

/// The curves of one device.
pub(super) fn of(figure: fn(&Row<'_>) -> Option<f64>, rows: &[&Row<'_>]) -> Vec<Curve> {
    let mut lines: Vec<(String, CurveSums)> = Vec::new();
    let sizes: BTreeSet<u64> = rows.iter().filter_map(|row| row.run.sized_slc()).collect();
    for row in rows {
        let Some(value) = figure(row) else { continue };
        let name = name(row, rows);
        let at = lines.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            lines.push((name, CurveSums::new()));
            lines.len() - 1
        });
        // A system without SLC is the same at every size.
        let own = row.run.sized_slc().map_or_else(|| sizes.clone(), |size| BTreeSet::from([size]));
        for size in own {
            let (sum, count) = lines[at].1.entry(size).or_default();
            *sum += value;
            *count += 1.0;
        }
    }
    let mean = |(size, (sum, count))| (size, sum / count);
    let of = |(name, points): (String, CurveSums)| Curve {
        name,
        points: points.into_iter().map(mean).collect(),
    };
    lines.into_iter().map(of).collect()
}

/// The name of a curve: the system, and the workload if there are several.
pub(super) fn name(row: &Row<'_>, rows: &[&Row<'_>]) -> String {
    let several = rows.iter().any(|other| other.run.workload != row.run.workload);
    let system = &row.result.system;
    let without = if row.run.slc == Some(0) { " without SLC" } else { "" };
    let workload = if several { format!(", {}", row.run.workload) } else { String::new() };
    format!("{system}{without}{workload}")
}
