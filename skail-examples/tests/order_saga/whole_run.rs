//! Runs that nothing disturbs but the gateway.

use std::fs::{self, OpenOptions};
use std::io::Write;

use super::support::Saga;

#[test]
fn the_bundled_orders_end_as_known_and_a_second_run_finds_nothing_to_do() {
    let saga = Saga::new();
    let first = saga.run(&[]);
    first.assert_finished();
    let requests = saga.requests();
    assert!(
        requests.iter().any(|request| request.fault.is_some()),
        "light faults are the default"
    );

    let second = saga.run(&[]);
    second.assert_finished();
    assert_eq!(second.lasting(), first.lasting());
    assert!(
        second.stdout.contains("this run: nothing was left to do"),
        "{second:?}"
    );
    assert_eq!(saga.requests(), requests, "nobody was asked again");
}

#[test]
fn on_the_gateways_worst_days_every_charge_is_still_made_once() {
    let saga = Saga::new();
    let ended = saga.run(&["--gateway-faults", "heavy", "--seed", "7"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(
        ended
            .stdout
            .lines()
            .last()
            .is_some_and(|line| line.starts_with("ledger: ok, ")),
        "{ended:?}"
    );
    let repeated = saga
        .requests()
        .iter()
        .filter(|request| request.duplicate)
        .count();
    assert!(repeated > 0, "answers were lost after charging");
}

#[test]
fn a_charge_that_nobody_asked_for_is_a_mismatch() {
    let saga = Saga::new();
    let header = "invoice,stock_code,quantity,unit_price_gbp,invoiced_at,country\n";
    let orders = saga.file(
        "orders.csv",
        &format!("{header}1,10000,2,1.50,d,UK\n2,POST,1,4.00,d,UK\n"),
    );
    let arguments = [
        "--orders",
        orders.to_str().expect("text"),
        "--gateway-faults",
        "none",
    ];
    assert_eq!(saga.run(&arguments).code, Some(0));

    let ledger = saga.data().join("gateway-ledger.jsonl");
    let text = fs::read_to_string(&ledger).expect("read");
    let charge = text
        .lines()
        .find(|line| line.contains("charge-1"))
        .expect("a charge");
    let mut file = OpenOptions::new()
        .append(true)
        .open(&ledger)
        .expect("opens");
    writeln!(file, "{}", charge.replace("charge-1", "another-key")).expect("written");

    let ended = saga.run(&arguments);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let lines: Vec<_> = ended.stdout.lines().rev().take(2).collect();
    assert!(
        lines[0].starts_with("ledger: MISMATCH, 1 line above, "),
        "{ended:?}"
    );
    assert!(
        lines[1].starts_with(
            "invoice 1: confirmed for GBP 3.00, but the gateway charged GBP 3.00 + GBP 3.00"
        ),
        "{ended:?}"
    );
}
