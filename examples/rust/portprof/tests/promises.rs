// SPDX-License-Identifier: MIT
//! What the safe layer promises, with the library that is installed.
use portprof::{Config, Counters, Region, Status};
use std::time::Instant;

fn refusal<T>(result: Result<T, portprof::Error>) -> portprof::Error {
    match result {
        Ok(_) => panic!("not refused"),
        Err(error) => error,
    }
}

fn spin(ms: u128) {
    let begin = Instant::now();
    while begin.elapsed().as_millis() < ms {}
}

#[test]
fn refusals_say_why() {
    let error = refusal(Counters::open("task-clokc"));
    assert_eq!(error.status(), Status::NotFound);
    assert_eq!(error.suggestions(), ["task-clock"]);
    assert!(error.to_string().contains("task-clokc"), "{error}");
    assert!(error.reason() > 0);

    let error = refusal(Config::new().unwrap().set("frequence", "1"));
    assert_eq!(error.status(), Status::Invalid);
    assert!(error.to_string().contains("frequency"), "{error}");

    let error = refusal(Config::new().unwrap().event("a\0b"));
    assert_eq!(error.status(), Status::Invalid);

    let config = Config::new().unwrap().write_to("/none/x").unwrap();
    assert!(refusal(config.open()).to_string().contains("/none"));
}

#[test]
fn the_account_closes() {
    let profile = Config::new().unwrap().set("frequency", "500").unwrap().open().unwrap();
    profile.start().unwrap();
    spin(100);
    profile.flush().unwrap();
    profile.stop().unwrap();
    let stats = profile.stats(0).unwrap();
    assert!(stats.total_weight > 0);
    assert_eq!(
        stats.total_weight + stats.excess_weight,
        stats.kept_weight + stats.outside_weight + stats.unattributed_weight
    );
    assert_eq!(refusal(profile.stats(1)).status(), Status::Invalid);
    profile.close().unwrap();
}

#[test]
fn regions_and_threads() {
    let counters = Config::new().unwrap().event("task-clock").unwrap();
    let regions = counters.open_regions().unwrap();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn(|| {
                let _outer = Region::begin("outer");
                let _inner = Region::begin("inner");
                spin(10);
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    drop(regions);
    let _nobody_counts = Region::begin("free");
}
