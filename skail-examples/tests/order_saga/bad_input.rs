//! What cannot be worked on is named, and nothing is started.

use std::fs;
use std::process::Stdio;

use super::support::{Ended, Saga};

const HEADER: &str = "invoice,stock_code,quantity,unit_price_gbp,invoiced_at,country\n";

fn refused(saga: &Saga, arguments: &[&str], message: &str) {
    let ended = saga.run(arguments);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert_eq!(ended.stdout, "", "{ended:?}");
    assert!(ended.stderr.contains(message), "{ended:?}");
    assert_eq!(ended.stderr.lines().count(), 1, "one sentence: {ended:?}");
}

#[test]
fn a_bad_file_of_orders_starts_nothing() {
    let good = "1,10000,1,1.00,d,UK\n".repeat(3);
    for (text, message) in [
        ("", "orders.csv: holds no orders"),
        (HEADER, "orders.csv: holds no orders"),
        (
            "invoice,stock_code\n1,2\n",
            "orders.csv:1: the header lacks quantity, unit_price_gbp, invoiced_at, country",
        ),
        (
            &format!("{HEADER}{good}1,10000,six,1.00,d,UK\n"),
            "orders.csv:5: quantity is \"six\"",
        ),
        (
            &format!("{HEADER}{good}1,10000,1,1.0.0,d,UK\n"),
            "orders.csv:5: unit_price_gbp is \"1.0.0\"",
        ),
        (
            &format!("{HEADER}{good}1,10000\n"),
            "orders.csv:5: the line has 2 fields, the header 6",
        ),
    ] {
        let saga = Saga::new();
        let path = saga.file("orders.csv", text);
        refused(&saga, &["--orders", path.to_str().expect("text")], message);
        assert!(!saga.data().exists(), "nothing was created");
    }
}

#[test]
fn a_file_that_is_not_there_starts_nothing() {
    let saga = Saga::new();
    refused(
        &saga,
        &["--orders", "nowhere.csv"],
        "nowhere.csv: there is no such file",
    );
    assert!(!saga.data().exists(), "nothing was created");
}

#[test]
fn a_wrong_option_starts_nothing() {
    let saga = Saga::new();
    for arguments in [
        ["--kill-after", "0"],
        ["--gateway-faults", "some"],
        ["--order", "x"],
    ] {
        let ended = saga.run(&arguments);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(2), ""),
            "{ended:?}"
        );
    }
    assert!(!saga.data().exists(), "nothing was created");
}

#[test]
fn a_directory_of_somebody_else_is_left_alone() {
    let saga = Saga::new();
    fs::create_dir(saga.data()).expect("created");
    fs::write(saga.data().join("thesis.txt"), "x").expect("written");
    refused(
        &saga,
        &[],
        "data: holds thesis.txt, which is not of this program",
    );
    assert_eq!(fs::read_dir(saga.data()).expect("listed").count(), 1);
}

#[test]
fn what_is_no_directory_is_named() {
    let saga = Saga::new();
    fs::write(saga.data(), "x").expect("written");
    refused(&saga, &[], "data: cannot create it (File exists");
}

#[test]
fn a_directory_is_for_one_file_of_orders() {
    let saga = Saga::new();
    let one = saga.file("one.csv", &format!("{HEADER}1,10000,1,1.00,d,UK\n"));
    let two = saga.file("two.csv", &format!("{HEADER}2,10000,1,1.00,d,UK\n"));
    let ended = saga.run(&["--orders", one.to_str().expect("text")]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let requests = saga.requests();
    refused(
        &saga,
        &["--orders", two.to_str().expect("text")],
        "belongs to other orders (",
    );
    assert_eq!(saga.requests(), requests);
}

#[test]
fn a_directory_that_another_process_works_in_is_refused() {
    let saga = Saga::new();
    let mut first = saga
        .command(&[])
        .stdout(Stdio::null())
        .spawn()
        .expect("starts");
    while saga.requests().is_empty() {
        assert!(
            first.try_wait().expect("a status").is_none(),
            "it ended too early"
        );
        std::thread::yield_now();
    }
    let second = Ended::from(saga.command(&[]).output().expect("starts"));
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.stderr.contains("data/skail"), "{second:?}");
    assert_eq!(second.stderr.lines().count(), 1, "one sentence: {second:?}");
    assert!(first.wait().expect("ends").success());
}
