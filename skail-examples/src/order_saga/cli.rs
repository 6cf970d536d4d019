//! The command line.
//!
//! Owns the options and their texts.

use std::num::NonZeroU64;
use std::path::PathBuf;

use clap::Parser;

use crate::gateway::Level;

/// Process a shop's orders as durable executions.
///
/// Each invoice becomes one execution: check the lines, set the articles aside, charge the customer
/// over HTTP, then ship, or undo what was done. Kill the program whenever you like: started again
/// with the same --data it goes on, and no recorded step runs again. At the end the payment
/// gateway's ledger is compared with the outcomes.
///
/// Exit code 0: everything agrees. 1: something does not. 2: nothing was started.
#[derive(Debug, Clone, Parser)]
#[command(name = "order_saga", version)]
pub struct Cli {
    /// The orders, as CSV [default: the bundled file of 698 invoices]
    #[arg(long, value_name = "FILE")]
    pub orders: Option<PathBuf>,
    /// Where everything is kept: the executions, the warehouse, the gateway's ledger
    #[arg(long, value_name = "DIR", default_value = "order-saga-data")]
    pub data: PathBuf,
    /// Kill this process hard (SIGKILL) when it has finished this many steps
    #[arg(long, value_name = "N")]
    pub kill_after: Option<NonZeroU64>,
    /// How badly the payment gateway behaves: 503s, lost answers, slowness
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t = Level::Light)]
    pub gateway_faults: Level,
    /// Seed of the gateway's faults
    #[arg(long, value_name = "SEED", default_value_t = 2010)]
    pub seed: u64,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_options_are_well_formed_and_the_defaults_are_the_documented_ones() {
        Cli::command().debug_assert();
        let cli = Cli::parse_from(["order_saga"]);
        assert_eq!(cli.data, PathBuf::from("order-saga-data"));
        assert_eq!(
            (cli.gateway_faults, cli.kill_after, cli.orders),
            (Level::Light, None, None)
        );
        Cli::try_parse_from(["order_saga", "--kill-after", "0"])
            .expect_err("dying before the first step");
    }
}
