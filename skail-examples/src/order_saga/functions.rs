//! The saga: what happens to one invoice, step by step.
//!
//! Owns the one function and its commands. The function decides, the commands act: it must touch
//! nothing outside but through them.

use futures::future::{join_all, try_join_all};
use rust_decimal::Decimal;
use skail_runtime::prelude::*;

use super::outcome::{Outcome, Setback};
use super::steps::Steps;
use crate::gateway::{Answer, GatewayClient, GatewayError, Operation};
use crate::requests::Caller;
use crate::shop::check::{Checked, check};
use crate::shop::orders::Invoice;
use crate::shop::warehouse::{Reservation, Warehouse, WarehouseError};

/// How many articles of one order are reserved at the same time.
const AT_ONCE: usize = 16;

/// How often is tried again what is harmless to repeat and bad to give up. A process that is killed
/// over and over costs an attempt of whatever was running, so a few would not do.
const PATIENT: u32 = 20;

/// Takes an invoice to its end.
#[skail_function]
pub async fn process_order(invoice: Invoice) -> anyhow::Result<Outcome> {
    let id = invoice.id.clone();
    match check_lines(invoice).await? {
        Checked::Rejected { reason } => Ok(Outcome::Rejected { reason }),
        Checked::Refund { amount } => {
            refund(id, amount).await?;
            Ok(Outcome::Refunded { amount })
        }
        Checked::Chargeable { amount, articles } => match sell(&id, amount, &articles).await? {
            None => Ok(Outcome::Confirmed { amount }),
            Some(reason) => Ok(Outcome::Compensated { reason }),
        },
    }
}

/// Reserves, charges, ships. `Some` if that could not be: then everything is as it was before.
async fn sell(
    invoice: &str,
    amount: Decimal,
    articles: &[(String, i64)],
) -> Result<Option<Setback>, CommandError> {
    if let Err((setback, asked)) = reserve_all(invoice, articles).await {
        release_all(invoice, asked).await?;
        return Ok(Some(setback));
    }
    let setback = match charge(invoice.to_owned(), amount).await {
        Ok(Answer::Declined { reason }) => Setback::Declined { reason },
        Ok(_) => {
            ship(invoice.to_owned()).await?;
            return Ok(None);
        }
        Err(error) => {
            // Whether it was charged is not known: only the gateway can tell, so it is told to give
            // back whatever there is.
            void(invoice.to_owned(), amount).await?;
            Setback::GatewayFailed {
                error: error.message().to_owned(),
            }
        }
    };
    release_all(invoice, articles).await?;
    Ok(Some(setback))
}

/// Reserves article after article until one cannot be had; then also says which were asked for,
/// since each of these may have been set aside.
async fn reserve_all<'a>(
    invoice: &str,
    articles: &'a [(String, i64)],
) -> Result<(), (Setback, &'a [(String, i64)])> {
    let mut asked = 0;
    for chunk in articles.chunks(AT_ONCE) {
        asked += chunk.len();
        let reservations = chunk
            .iter()
            .map(|(article, quantity)| reserve(invoice.to_owned(), article.clone(), *quantity));
        for ((article, _), reservation) in chunk.iter().zip(join_all(reservations).await) {
            let setback = match reservation {
                Ok(Reservation::Reserved) => continue,
                Ok(Reservation::OutOfStock) => Setback::OutOfStock {
                    article: article.clone(),
                },
                Err(error) => Setback::WarehouseFailed {
                    error: error.message().to_owned(),
                },
            };
            return Err((setback, articles.get(..asked).unwrap_or(articles)));
        }
    }
    Ok(())
}

/// Puts back what was set aside.
async fn release_all(invoice: &str, articles: &[(String, i64)]) -> Result<(), CommandError> {
    for chunk in articles.chunks(AT_ONCE) {
        try_join_all(
            chunk
                .iter()
                .map(|(article, _)| release(invoice.to_owned(), article.clone())),
        )
        .await?;
    }
    Ok(())
}

/// Says what the invoice comes to.
#[skail_command]
async fn check_lines(#[state] steps: &Steps, invoice: Invoice) -> anyhow::Result<Checked> {
    let checked = check(&invoice);
    steps.finish();
    Ok(checked)
}

/// Sets one article aside.
#[skail_command(retry_count = PATIENT, idempotency_key = "reserve-{invoice}-{article}")]
async fn reserve(
    #[state] warehouse: &Warehouse,
    #[state] steps: &Steps,
    invoice: String,
    article: String,
    quantity: i64,
) -> Result<Reservation, WarehouseError> {
    let reservation = warehouse
        .reserve(caller(), &invoice, &article, quantity)
        .await?;
    steps.finish();
    Ok(reservation)
}

/// Puts one article back.
#[skail_command(retry_count = PATIENT, idempotency_key = "release-{invoice}-{article}")]
async fn release(
    #[state] warehouse: &Warehouse,
    #[state] steps: &Steps,
    invoice: String,
    article: String,
) -> Result<(), WarehouseError> {
    warehouse.release(caller(), &invoice, &article).await?;
    steps.finish();
    Ok(())
}

/// Ships what was set aside.
#[skail_command(retry_count = PATIENT, idempotency_key = "ship-{invoice}")]
async fn ship(
    #[state] warehouse: &Warehouse,
    #[state] steps: &Steps,
    invoice: String,
) -> Result<(), WarehouseError> {
    warehouse.ship(caller(), &invoice).await?;
    steps.finish();
    Ok(())
}

/// Charges the customer.
#[skail_command(retry_count = 8, idempotency_key = "charge-{invoice}")]
async fn charge(
    #[state] gateway: &GatewayClient,
    #[state] steps: &Steps,
    invoice: String,
    amount: Decimal,
) -> Result<Answer, GatewayError> {
    let answer = gateway
        .ask(Operation::Charge, caller(), &invoice, amount)
        .await?;
    steps.finish();
    Ok(answer)
}

/// Pays back a cancellation.
#[skail_command(retry_count = 8, idempotency_key = "refund-{invoice}")]
async fn refund(
    #[state] gateway: &GatewayClient,
    #[state] steps: &Steps,
    invoice: String,
    amount: Decimal,
) -> Result<Answer, GatewayError> {
    let answer = gateway
        .ask(Operation::Refund, caller(), &invoice, amount)
        .await?;
    steps.finish();
    Ok(answer)
}

/// Ends an invoice whose charge is in doubt: what was charged is paid back, and nothing can be
/// charged any more.
#[skail_command(retry_count = PATIENT, idempotency_key = "void-{invoice}")]
async fn void(
    #[state] gateway: &GatewayClient,
    #[state] steps: &Steps,
    invoice: String,
    amount: Decimal,
) -> Result<Answer, GatewayError> {
    let answer = gateway
        .ask(Operation::Void, caller(), &invoice, amount)
        .await?;
    steps.finish();
    Ok(answer)
}

/// Who asks: the command that this runs in.
fn caller() -> Caller {
    Caller {
        key: idempotency_key(),
        attempt: attempt().number,
    }
}
