// SPDX-License-Identifier: MIT
//! What the safe layer promises, with the library that is installed.
use portprof::{Config, Counters, Label, Reason, Region, Status};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;
use std::time::{Duration, Instant};

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
    assert_eq!(error.reason(), Reason::UnknownName);

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
    let rows = regions.read().unwrap();
    assert_eq!(rows.len(), 2);
    let inner = rows.iter().find(|row| row.name == "inner").unwrap();
    assert_eq!((inner.calls, inner.threads, inner.counts.len()), (4, 4, 1));
    assert!(inner.counts[0].value().unwrap() > 0);
    drop(regions);
    let _nobody_counts = Region::begin("free");
}

#[test]
fn a_callback_gets_all_weight() {
    let (weight, chains) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (own_weight, own_chains) = (weight.clone(), chains.clone());
    let config = Config::new()
        .unwrap()
        .number("callchain", 16)
        .unwrap()
        .callback(move |batch| {
            for sample in batch.samples() {
                own_weight.fetch_add(sample.weight(), Relaxed);
                own_chains.fetch_add(!sample.chain().is_empty() as u64, Relaxed);
                assert_eq!(sample.event(), 0);
            }
        })
        .unwrap();
    let profile = config.open().unwrap();
    drop(config); // the profile keeps the function
    profile.start().unwrap();
    while weight.load(Relaxed) == 0 {
        let _label = Label::push("test", "callback");
        spin(20);
        profile.flush().unwrap();
    }
    profile.stop().unwrap();
    assert_eq!(weight.load(Relaxed), profile.stats(0).unwrap().kept_weight);
    assert!(chains.load(Relaxed) > 0);
    assert_eq!(
        refusal(profile.set_number(0, "frequence", 5)).status(),
        Status::Invalid
    );
    profile.close().unwrap();
}

#[test]
fn a_descriptor_waits_for_flush() {
    let weight = Arc::new(AtomicU64::new(0));
    let own = weight.clone();
    let profile = Config::new()
        .unwrap()
        .callback(move |batch| {
            own.fetch_add(batch.samples().map(|s| s.weight()).sum(), Relaxed);
        })
        .unwrap()
        .open()
        .unwrap();
    assert!(profile.descriptor().unwrap() >= 0);
    profile.start().unwrap();
    for _ in 0..1000 {
        spin(20);
        assert_eq!(weight.load(Relaxed), 0);
        profile.flush().unwrap();
        if weight.load(Relaxed) > 0 {
            break;
        }
    }
    assert!(weight.load(Relaxed) > 0);
}

#[test]
fn a_wait_says_for_what() {
    let (slept, others) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (own_slept, own_others) = (slept.clone(), others.clone());
    let config = Config::new()
        .unwrap()
        .event("blocked-time")
        .unwrap()
        .callback(move |batch| {
            for sample in batch.samples() {
                own_slept.fetch_add((sample.field_text(1) == "sleep") as u64, Relaxed);
                own_others.fetch_add(!sample.field_text(100).is_empty() as u64, Relaxed);
            }
        })
        .unwrap();
    let profile = match config.open() {
        Ok(profile) => profile,
        Err(error) => return assert_eq!(error.status(), Status::Unsupported),
    };
    profile.start().unwrap();
    for _ in 0..1000 {
        std::thread::sleep(Duration::from_millis(50));
        profile.flush().unwrap();
        if slept.load(Relaxed) > 0 {
            break;
        }
    }
    profile.stop().unwrap();
    assert!(slept.load(Relaxed) > 0);
    assert_eq!(others.load(Relaxed), 0);
}
