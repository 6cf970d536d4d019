//! A trip of three bookings, of which the last one fails: what was booked is cancelled, the newest first.
//!
//! ```sh
//! cargo run -p skail-examples --bin travel_saga             # there is no car, so nothing stays booked
//! cargo run -p skail-examples --bin travel_saga -- --car    # there is one
//! cargo run -p skail-examples --bin travel_saga -- --kill   # dies in the middle of cancelling
//! ```
//!
//! A booking is a file in `travel-saga-data`, so you can look at what is booked. After the kill the flight
//! still is; run the first line again, and the saga goes on where it was: the flight is cancelled too, and
//! nothing is cancelled twice.
//!
//! What to copy: each step is given to the saga with the call that undoes it; the undoing is content when
//! there is nothing to undo, because the step may have failed before it did anything; and it has more
//! retries than the step, because giving up on it leaves something booked that nobody wants.
#![allow(clippy::print_stdout, reason = "it tells what it does")]

use std::path::PathBuf;
use std::{fs, io};

use anyhow::Context as _;
use clap::Parser;
use skail_runtime::prelude::*;

/// Where bookings are kept.
struct Agency {
    bookings: PathBuf,
    has_cars: bool,
    /// Whether the process dies once it has cancelled the hotel, before that is recorded.
    dies: bool,
}

#[skail_command]
async fn book(#[state] agency: &Agency, trip: u32, what: String) -> anyhow::Result<String> {
    if what == "car" && !agency.has_cars {
        // No other attempt would find one.
        return Err(permanent(anyhow::anyhow!("there is no car left")));
    }
    let booking = format!("{what}-{trip}");
    // The same file, however often it is written: booking twice is booking once.
    fs::write(agency.bookings.join(&booking), "")?;
    println!("booked {booking}");
    Ok(booking)
}

#[skail_command(retry_count = 50)]
async fn cancel(#[state] agency: &Agency, trip: u32, what: String) -> anyhow::Result<()> {
    let booking = format!("{what}-{trip}");
    match fs::remove_file(agency.bookings.join(&booking)) {
        Ok(()) => println!("cancelled {booking}"),
        Err(error) if error.kind() == io::ErrorKind::NotFound => println!("no {booking} to cancel"),
        Err(error) => return Err(error.into()),
    }
    if agency.dies && what == "hotel" {
        println!("and now the process dies");
        std::process::abort();
    }
    Ok(())
}

#[skail_function]
async fn travel(trip: u32) -> anyhow::Result<Vec<String>> {
    Saga::scope(async |saga| {
        let mut booked = Vec::new();
        for what in ["flight", "hotel", "car"] {
            let step = book(trip, what.to_owned()).compensate_by(cancel(trip, what.to_owned()));
            booked.push(saga.run(step).await?);
        }
        Ok(booked)
    })
    .await
}

/// Books a trip, or nothing at all.
#[derive(Debug, Parser)]
struct Options {
    /// There is a car.
    #[arg(long)]
    car: bool,
    /// Dies after the hotel is cancelled, before that is recorded.
    #[arg(long)]
    kill: bool,
    /// Where everything is kept; without the directory the program begins afresh.
    #[arg(long, default_value = "travel-saga-data")]
    data: PathBuf,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let bookings = options.data.join("bookings");
    fs::create_dir_all(&bookings).with_context(|| bookings.display().to_string())?;
    let agency = Agency {
        bookings: bookings.clone(),
        has_cars: options.car,
        dies: options.kill,
    };
    let skail = Skail::builder()
        .store(SledStore::open(options.data.join("skail"))?)
        .state(agency)
        .start()
        .await?;
    let trip = skail.start(travel(17)).id("trip-17").await?;
    match trip.result().await {
        Ok(booked) => println!("the trip is booked: {}", booked.join(", ")),
        Err(error) => println!("no trip: {error}"),
    }
    let left: Result<Vec<_>, _> = fs::read_dir(&bookings)?.collect();
    println!("{} bookings stand", left?.len());
    skail.shutdown().await?;
    Ok(())
}
