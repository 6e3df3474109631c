use std::time::Instant;
use torture::exhaustive::{Order, Shard, exhaustive};
use torture::{FtlName, Watcher};
struct Clock(Instant, f64);
impl Watcher for Clock {
    fn tried(&self, _: u64) {}
    fn goes_on(&self) -> bool { self.0.elapsed().as_secs_f64() < self.1 }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[1] == "replay" {
        let replayed = torture::exhaustive::replay(&args[2].parse().unwrap()).unwrap();
        for line in replayed.history { println!("{line}"); }
        println!("{:?}", replayed.broken);
        return;
    }
    let ftl = if args[1] == "hybrid" { FtlName::Hybrid } else { FtlName::Paged };
    if args[2] == "names" {
        for name in torture::exhaustive::device_names(ftl) { println!("{name}"); }
        return;
    }
    let requests = args[2].parse().unwrap();
    let device = args.get(3).filter(|name| name.as_str() != "all").cloned();
    let broken_max = args.get(4).map_or(20, |max| max.parse().unwrap());
    let seconds = args.get(5).map_or(60.0, |max| max.parse().unwrap());
    let begun = Instant::now();
    let order = Order { ftl, requests, shard: Shard::WHOLE, device, broken_max,
        harms: env("HARMS", 2), failures: env("FAILURES", 1), rots: env("ROTS", 1) };
    let found = exhaustive(&order, &Clock(begun, seconds)).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    println!("{} devices, {} states, {} transitions, {} lives, {:.1} s, {:.0}/s; lives {:.0}/s", found.devices, found.states, found.transitions, found.lives, seconds, found.transitions as f64 / seconds, found.lives as f64 / seconds);
    println!("{} broken", found.broken.len());
    for broken in found.broken.iter().take(30) { println!("{}\n    {}", broken.script, broken.sentence); }
}

fn env(name: &str, usual: u8) -> u8 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}
