//! A report: the runs and their results, with charts, as one page that can be sent to a colleague.
//!
//! # Modules
//!
//! - `page`: HTML. `charts`: the pictures. `shown`: the runs, and the names of causes.

use sim::engine::replay::Outcome;
use sim::engine::result::RunResult;
use sim::engine::systems;
use sim::input::device::Setup;
use sim::{Failure, show};

use crate::flags::options::Options;
use crate::output::plot::shared_colours;
use crate::output::ranking::RULE;
use crate::output::verdict::{CANNOT_SHOW, Field, Verdict};
use crate::output::{side_by_side, text};

mod charts;
mod page;
mod shown;

pub(crate) use page::HtmlPage;
use shown::{Memory, Shown, cause_name, shown};

/// Writes the report, if it was requested and the run is complete.
pub(crate) fn write(
    options: &Options,
    field: &Field<'_>,
    verdict: &Verdict<'_>,
    outcomes: &[Outcome],
) -> Result<(), Failure> {
    match &options.report {
        Some(path) if !outcomes.iter().any(|outcome| outcome.result.partial) => {
            page_of(options, field, verdict, outcomes).write(path)
        }
        _ => Ok(()),
    }
}

fn page_of(
    options: &Options,
    field: &Field<'_>,
    verdict: &Verdict<'_>,
    outcomes: &[Outcome],
) -> HtmlPage {
    let runs = shown(outcomes);
    let names = options.workload.traces.iter();
    let names = names.map(|name| name.rsplit('/').next().unwrap_or_default().to_owned());
    let trace = show::names(&names.collect::<Vec<String>>());
    let systems: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    let what = if let [one] = systems[..] { one } else { "Systems compared" };
    let mut page = HtmlPage::new(&format!("{what} on {}: {trace}", field.setup.part.name));
    answer(&mut page, verdict);
    define(&mut page, field.runs.iter().map(|run| run.system.as_str()));
    what_ran(&mut page, options, field, &runs);
    results(&mut page, field, &runs);
    times(&mut page, &runs);
    traffic(&mut page, field.setup, &runs);
    wear(&mut page, &runs);
    scatter(&mut page, field.setup, &runs);
    page
}

/// The answer comes first, then a picture of it and the ranking: for readers who stop there.
fn answer(page: &mut HtmlPage, verdict: &Verdict<'_>) {
    let Verdict { ranking, answers, warnings } = verdict;
    if let Some((answer, others)) = answers.split_first() {
        page.answer(answer);
        if let Some(ranking) = ranking {
            page.chart(&charts::speeds(ranking));
            page.table(&ranking.heads(), &ranking.table());
            page.note(RULE);
        }
        page.list(others);
    }
    if !warnings.is_empty() {
        page.heading(CANNOT_SHOW);
    }
    for warning in warnings {
        page.warning(warning);
    }
}

/// What the systems are, for readers who do not know them.
pub(crate) fn define<'a>(page: &mut HtmlPage, systems: impl Iterator<Item = &'a str>) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for name in systems {
        let row = systems::title(name).map(|title| vec![name.to_owned(), title.to_owned()]);
        rows.extend(row.filter(|row| !rows.contains(row)));
    }
    page.facts(&rows);
    page.note(
        "SLC is flash that stores one bit in a cell. It is faster, lasts longer and costs more than MLC, which stores \
         two or more.",
    );
}

fn what_ran(page: &mut HtmlPage, options: &Options, field: &Field<'_>, runs: &[Shown<'_>]) {
    let Some(Shown { result: first, .. }) = runs.first() else { return };
    let (setup, part) = (field.setup, &field.setup.part);
    // One system is a device of SLC alone.
    let used = runs.iter().map(|run| run.result.slc_bytes).filter(|bytes| *bytes > 0).min();
    let slc = used.map_or_else(String::new, |bytes| {
        format!(", {} of SLC for those that use it", show::short(bytes))
    });
    let exported = show::short(part.exported_bytes);
    let mut facts = vec![
        ("trace", first.trace.clone()),
        (
            "requests",
            format!("{}, {}", text::requests(&first.requests), text::pace(options, first)),
        ),
        ("device", format!("{}: {}, {exported} exported{slc}", part.name, part.title)),
        ("operations", text::overlap(setup).into()),
    ];
    let others = text::other_hardware(runs.iter().map(|run| run.result), setup);
    let others: Vec<String> =
        others.into_iter().map(|[system, memories]| format!("{system}: {memories}")).collect();
    if !others.is_empty() {
        facts.push(("other memories", others.join("; ")));
    }
    facts.extend(text::fitted(first).map(|fitted| ("addresses", fitted)));
    facts.extend(first.seed.map(|seed| ("seed", seed.to_string())));
    if first.skipped_lines > 0 {
        facts.push(("bad lines skipped", show::count(first.skipped_lines)));
    }
    let words: Vec<String> = std::env::args().skip(1).map(|word| show::quoted(&word)).collect();
    facts.push(("command", format!("tandem {}", words.join(" "))));
    facts.push(("program", concat!("tandem ", env!("CARGO_PKG_VERSION")).into()));
    page.heading("What ran");
    let facts: Vec<Vec<String>> =
        facts.into_iter().map(|(name, words)| vec![name.to_owned(), words]).collect();
    page.facts(&facts);
    page.note(&format!(
        "{} Every request was served, and every sector that was read held the data last written.",
        options.fill.words()
    ));
    if let Some(steady) = &first.steady {
        page.note(&format!("{}; charts that follow the run show all.", text::settled(steady)));
    }
}

fn heads<'a>(first: &'a str, names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    [first].into_iter().chain(names).map(String::from).collect()
}

fn results(page: &mut HtmlPage, field: &Field<'_>, shown: &[Shown<'_>]) {
    page.heading("Results");
    let all: Vec<&RunResult> = shown.iter().map(|shown| shown.result).collect();
    page.table(&heads("", names(shown)), &side_by_side::rows(&all));
    let runs = field.runs;
    let Some((first, others)) = runs.split_first().filter(|(_, others)| !others.is_empty()) else {
        return;
    };
    page.words(&format!("The ratios of Chang's paper, against {}:", first.system));
    let heads = heads("", others.iter().map(|run| run.system.as_str()));
    let heads: Vec<String> = heads.into_iter().chain([String::new()]).collect();
    page.table(&heads, &side_by_side::ratio_rows(others, first));
}

fn times(page: &mut HtmlPage, outcomes: &[Shown<'_>]) {
    page.heading("Response times");
    page.note(
        "At each share, the time within which that share of the requests was answered: at 99 %, 99 of 100. The axis is \
         stretched towards the slowest.",
    );
    for (one, other) in shared_colours(&names(outcomes).collect::<Vec<_>>()) {
        page.note(&format!(
            "There are more systems than colours: {other} has that of {one} in every chart, and differs in its dash."
        ));
    }
    for chart in charts::latencies(outcomes) {
        page.chart(&chart);
    }
    if let Some(chart) = charts::over_the_run(outcomes) {
        page.chart(&chart);
    }
    if let Some(chart) = charts::rounds(outcomes) {
        page.chart(&chart);
    }
    page.chart(&charts::time_by_cause(outcomes));
    let parts: Vec<_> =
        outcomes.iter().map(|outcome| outcome.result.response_by_cause_us.all().parts()).collect();
    let Some(first) = parts.first() else { return };
    let rows: Vec<Vec<String>> = first
        .iter()
        .enumerate()
        .filter(|(at, _)| parts.iter().any(|parts| parts[*at].1 > 0.0))
        .map(|(at, (name, _))| {
            let figures = parts.iter().map(|parts| show::time(parts[at].1));
            [cause_name(name).to_owned()].into_iter().chain(figures).collect()
        })
        .collect();
    page.table(&heads("spent on", names(outcomes)), &rows);
    page.note(
        "Host: the pages that requests asked for. Garbage collection: in the log, or in a page store. Folding: \
         merging a chain into one block, and erasing the blocks this frees. Write-back: moving sectors from the \
         log to the chains, or from the fast area of a page store. Address translation: reading tags. Map: \
         reading and writing the map pages of a page store. Metadata: headers, summaries, trims. Waiting: for earlier \
         requests, where several are outstanding or come as they were recorded; an operation that waits for a busy die \
         counts to its own cause.",
    );
}

fn names<'a>(outcomes: &'a [Shown<'_>]) -> impl Iterator<Item = &'a str> {
    outcomes.iter().map(|outcome| outcome.label.as_str())
}

fn traffic(page: &mut HtmlPage, setup: &Setup, outcomes: &[Shown<'_>]) {
    page.heading("Traffic by cause");
    page.note(
        "Garbage collection here is all of it: in the log, folding, write-back, and emptying blocks of a page store. \
         Each operation counts as a whole page, even if it reads only a sector or a tag. Flash alone is drawn.",
    );
    page.chart(&charts::writes(outcomes, setup));
    page.chart(&charts::reads(outcomes, setup));
}

fn wear(page: &mut HtmlPage, outcomes: &[Shown<'_>]) {
    page.heading("How evenly the blocks wear");
    page.note(
        "Erases during the replay; the preparation before it is left out. A steep curve is even wear: at 90 % it shows \
         the erases that nine of ten blocks do not exceed.",
    );
    for chart in charts::wear(outcomes) {
        page.chart(&chart);
    }
    let rows: Vec<Vec<String>> = outcomes
        .iter()
        .flat_map(|outcome| {
            outcome.memories().filter(|memory| memory.part.erases() > 0).map(
                |Memory { name, part, .. }| {
                    let spread = part.wear;
                    vec![
                        name,
                        show::count(part.erases()),
                        show::count(spread.min),
                        format!("{:.3}", spread.mean),
                        show::count(spread.max),
                        format!("{:.3}", spread.stddev),
                    ]
                },
            )
        })
        .collect();
    if rows.is_empty() {
        page.note("No block was erased.");
        return;
    }
    let columns = ["erases", "least of a block", "mean", "most", "standard deviation"];
    page.table(&heads("", columns), &rows);
}

fn scatter(page: &mut HtmlPage, setup: &Setup, outcomes: &[Shown<'_>]) {
    let charts = charts::scatter(outcomes, setup);
    if charts.is_empty() {
        return;
    }
    page.heading("Where the chains are written");
    page.note(
        "Block chains take writes in order well, and scattered ones badly: each place begins a log block of its own, \
         and each of those ends in a fold. A sample at even distances, where there are many.",
    );
    for chart in charts {
        page.chart(&chart);
    }
}
