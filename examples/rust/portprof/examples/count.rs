// SPDX-License-Identifier: MIT
//! Samples and counts a piece of work.
//!
//! usage: count [FILE [BACKEND]]
use std::time::{Duration, Instant};

#[inline(never)]
fn work(time: Duration) -> u64 {
    let (begin, mut sum) = (Instant::now(), 0u64);
    while begin.elapsed() < time {
        for i in 0..10_000u64 {
            // SAFETY: `i` lives. The compiler must not know the sum beforehand.
            sum = sum.wrapping_mul(31).wrapping_add(unsafe { std::ptr::read_volatile(&i) });
        }
    }
    sum
}

fn main() -> Result<(), portprof::Error> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "run.pb.gz".into());
    let backend = arguments.next().unwrap_or_else(|| "auto".into());

    let profile = portprof::Config::new()?
        .set("backend", &backend)?
        .set("frequency", "500")?
        .set("callchain", "64")?
        .write_to(&path)?
        .open()?;
    let counters = portprof::Counters::open("task-clock,page-faults")?;
    let before = counters.read()?;

    profile.start()?;
    let label = portprof::Label::push("phase", "work");
    let sum = work(Duration::from_millis(500));
    drop(label);
    profile.stop()?;

    let after = counters.read()?;
    let stats = profile.stats(0)?;
    println!("sum: {sum}");
    println!("backend: {}", profile.backend());
    println!("samples: {}", stats.delivered_samples);
    println!("total: {}", stats.total_weight);
    println!("counted: {}", after[0].since(&before[0]));
    println!("faults: {}", after[1].since(&before[1]));
    for note in profile.notes() {
        println!("note: {note}");
    }
    profile.close()
}
