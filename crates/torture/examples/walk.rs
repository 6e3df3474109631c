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
    let bound = args[2].parse().unwrap();
    let device = args.get(3).filter(|name| name.as_str() != "all").cloned();
    let broken_max = args.get(4).map_or(20, |max| max.parse().unwrap());
    let seconds = args.get(5).map_or(60.0, |max| max.parse().unwrap());
    let begun = Instant::now();
    let order = Order { ftl, bound, shard: Shard::WHOLE, device, broken_max };
    let all = exhaustive(&order, &Clock(begun, seconds)).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    for found in all {
    println!("{}: {} states, {} transitions, {} lives, {:.1} s, {:.0}/s; lives {:.0}/s, {} broken", found.device, found.states, found.transitions, found.lives, seconds, found.transitions as f64 / seconds, found.lives as f64 / seconds, found.broken.len());
    for broken in found.broken.iter().take(30) { println!("  {}\n    {}", broken.script, broken.sentence); }
    }
}
