//! The trip is booked whole or not at all, also when the process dies while it cancels.
#![allow(
    clippy::unwrap_used,
    reason = "what is wrong ends the test, in its helpers too"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn run(data: &Path, flags: &[&str]) -> (Output, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_travel_saga"));
    let output = command
        .arg("--data")
        .arg(data)
        .args(flags)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout.clone()).unwrap();
    (output, said)
}

fn bookings(data: &Path) -> Vec<String> {
    let entries = fs::read_dir(data.join("bookings")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn a_trip_with_everything_is_booked() {
    let directory = tempfile::tempdir().unwrap();
    let (output, said) = run(directory.path(), &["--car"]);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        bookings(directory.path()),
        ["car-17", "flight-17", "hotel-17"]
    );
    assert!(said.ends_with("3 bookings stand\n"), "{said}");
}

#[test]
fn a_trip_without_a_car_is_cancelled_newest_first_whatever_dies() {
    let directory = tempfile::tempdir().unwrap();
    let (output, said) = run(directory.path(), &["--kill"]);
    assert!(!output.status.success(), "{said}");
    assert_eq!(bookings(directory.path()), ["flight-17"], "{said}");
    // It dies again in the same place, since it cannot know that the hotel is cancelled.
    let (output, _) = run(directory.path(), &["--kill"]);
    assert!(!output.status.success());

    let (output, said) = run(directory.path(), &[]);
    assert!(output.status.success(), "{said}");
    assert_eq!(bookings(directory.path()), Vec::<String>::new());
    let hotel = said.find("no hotel-17 to cancel").unwrap();
    assert!(hotel < said.find("cancelled flight-17").unwrap(), "{said}");
    assert!(!said.contains("booked flight"), "{said}");
    assert!(
        said.contains("no trip: ") && said.contains("there is no car left"),
        "{said}"
    );

    // What is done is done.
    let (output, said) = run(directory.path(), &["--car"]);
    assert!(
        output.status.success() && !said.contains("cancelled "),
        "{said}"
    );
    assert_eq!(bookings(directory.path()), Vec::<String>::new());
}
