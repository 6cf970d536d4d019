//! From a CSV file to invoices.
//!
//! Owns the file's form; the complaints are in `error`. A file is read to its end before anything
//! is done with it, so that a mistake in the last line starts nothing. It must never judge the
//! business: a price of 0 or a negative quantity is a matter for [`check`](super::check).

mod error;

use std::collections::HashMap;
use std::io;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use rust_decimal::Decimal;

use super::orders::{Invoice, Line};

pub use error::OrdersError;

/// The columns that must be there, in any order; others may stand beside them.
pub const COLUMNS: [&str; 6] = [
    "invoice",
    "stock_code",
    "quantity",
    "unit_price_gbp",
    "invoiced_at",
    "country",
];

/// Reads the file's bytes.
///
/// # Errors
/// [`OrdersError::NotFound`] or [`OrdersError::Unreadable`].
pub fn load(path: &Path) -> Result<Vec<u8>, OrdersError> {
    std::fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => OrdersError::NotFound(path.to_owned()),
        _ => OrdersError::Unreadable {
            path: path.to_owned(),
            source,
        },
    })
}

/// Reads all invoices, in the order in which the file first names them. The lines of one invoice
/// need not stand together.
///
/// `path` is what messages name; the bytes come from [`load`] or from the program itself.
///
/// # Errors
/// The first mistake in the file.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Vec<Invoice>, OrdersError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(bytes);
    let header = reader
        .headers()
        .map_err(|error| bad_record(path, 1, &error))?
        .clone();
    let columns = Columns::find(path, &header)?;

    let mut invoices: Vec<Invoice> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    let mut record = StringRecord::new();
    loop {
        let line = reader.position().line();
        if !reader
            .read_record(&mut record)
            .map_err(|error| bad_record(path, line, &error))?
        {
            break;
        }
        let row = Row {
            path,
            line: record.position().map_or(line, csv::Position::line),
            record: &record,
            columns: &columns,
        };
        let id = row.word(0)?;
        let at = *place.entry(id.clone()).or_insert_with(|| {
            invoices.push(Invoice {
                id,
                country: String::new(),
                invoiced_at: String::new(),
                lines: Vec::new(),
            });
            invoices.len() - 1
        });
        row.add_to(&mut invoices[at])?;
    }
    if invoices.is_empty() {
        Err(OrdersError::Empty(path.to_owned()))
    } else {
        Ok(invoices)
    }
}

/// Where each of [`COLUMNS`] stands in this file.
struct Columns([usize; COLUMNS.len()]);

impl Columns {
    fn find(path: &Path, header: &StringRecord) -> Result<Self, OrdersError> {
        if header.is_empty() {
            return Err(OrdersError::Empty(path.to_owned()));
        }
        let mut places = [0; COLUMNS.len()];
        let mut missing = Vec::new();
        for (place, column) in places.iter_mut().zip(COLUMNS) {
            match header.iter().position(|field| field == column) {
                Some(found) => *place = found,
                None => missing.push(column),
            }
        }
        if missing.is_empty() {
            return Ok(Self(places));
        }
        let found = header.iter().collect::<Vec<_>>().join(",");
        Err(OrdersError::MissingColumn {
            path: path.to_owned(),
            missing,
            found,
        })
    }
}

/// One record, and what a message about it must name.
struct Row<'a> {
    path: &'a Path,
    line: u64,
    record: &'a StringRecord,
    columns: &'a Columns,
}

impl Row<'_> {
    fn add_to(&self, invoice: &mut Invoice) -> Result<(), OrdersError> {
        let line = Line {
            stock_code: self.word(1)?,
            quantity: self.number(2, "a whole number", |text| text.parse().ok())?,
            unit_price: self.number(3, "an amount such as 2.55", |text| {
                Decimal::from_str_exact(text).ok()
            })?,
        };
        let (invoiced_at, country) = (self.word(4)?, self.word(5)?);
        if invoice.lines.is_empty() {
            (invoice.invoiced_at, invoice.country) = (invoiced_at, country);
        }
        invoice.lines.push(line);
        Ok(())
    }

    fn field(&self, column: usize) -> &str {
        self.record.get(self.columns.0[column]).unwrap_or_default()
    }

    fn word(&self, column: usize) -> Result<String, OrdersError> {
        match self.field(column) {
            "" => Err(OrdersError::Blank {
                path: self.path.to_owned(),
                line: self.line,
                column: COLUMNS[column],
            }),
            text => Ok(text.to_owned()),
        }
    }

    fn number<T>(
        &self,
        column: usize,
        expected: &'static str,
        read: impl Fn(&str) -> Option<T>,
    ) -> Result<T, OrdersError> {
        let text = self.field(column);
        read(text).ok_or_else(|| OrdersError::BadNumber {
            path: self.path.to_owned(),
            line: self.line,
            column: COLUMNS[column],
            text: text.to_owned(),
            expected,
        })
    }
}

/// The csv crate's complaint, without its own idea of the place: the message names file and line
/// already.
fn bad_record(path: &Path, line: u64, error: &csv::Error) -> OrdersError {
    let line = error.position().map_or(line, csv::Position::line);
    let problem = match error.kind() {
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => {
            format!("the line has {len} fields, the header {expected_len}")
        }
        csv::ErrorKind::Utf8 { err, .. } => format!("field {} is not UTF-8", err.field() + 1),
        _ => error.to_string(),
    };
    OrdersError::BadRecord {
        path: path.to_owned(),
        line,
        problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "invoice,stock_code,quantity,unit_price_gbp,invoiced_at,country\n";

    fn read(text: &str) -> Result<Vec<Invoice>, OrdersError> {
        parse(Path::new("orders.csv"), text.as_bytes())
    }

    fn complaint(text: &str) -> String {
        read(text).expect_err("a mistake").to_string()
    }

    #[test]
    fn the_bundled_file_holds_698_invoices() {
        let bytes = include_bytes!("../../../data/online-retail-2010-12.csv");
        let invoices = parse(Path::new("bundled"), bytes).expect("good");
        assert_eq!(invoices.len(), 698);
        assert_eq!(
            invoices
                .iter()
                .map(|invoice| invoice.lines.len())
                .sum::<usize>(),
            14_553
        );
        assert_eq!(
            invoices
                .iter()
                .filter(|invoice| invoice.is_cancellation())
                .count(),
            70
        );
        assert_eq!(invoices[0].id, "536365");
        assert_eq!(invoices[0].lines[0].unit_price, Decimal::new(255, 2));
        assert_eq!(invoices[697].id, "537603");
    }

    #[test]
    fn lines_of_one_invoice_need_not_stand_together() {
        let invoices = read(&format!(
            "{HEADER}1,10000,1,1.00,d,UK\n2,10000,2,1.00,d,UK\n1,10001,3,1.00,e,UK\n"
        ))
        .expect("good");
        assert_eq!(invoices.len(), 2);
        assert_eq!(
            invoices[0]
                .lines
                .iter()
                .map(|line| line.quantity)
                .collect::<Vec<_>>(),
            [1, 3]
        );
        assert_eq!(invoices[0].invoiced_at, "d", "the first line's");
    }

    #[test]
    fn columns_may_stand_in_any_order_with_others_between_and_behind_a_byte_order_mark() {
        let text = "\u{feff}country,note,invoice,quantity,stock_code,invoiced_at,unit_price_gbp\r\nUK,x,7, 2 ,10000,d,0.5\r\n";
        let invoices = read(text).expect("good");
        assert_eq!(
            (invoices[0].id.as_str(), invoices[0].lines[0].quantity),
            ("7", 2)
        );
    }

    #[test]
    fn what_is_a_business_matter_is_no_error() {
        let invoices = read(&format!("{HEADER}1,POST,-5,0,d,UK\n")).expect("good");
        assert_eq!(invoices[0].lines[0].quantity, -5);
    }

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let error = load(Path::new("/nowhere/orders.csv")).expect_err("not there");
        assert!(
            error
                .to_string()
                .starts_with("/nowhere/orders.csv: there is no such file"),
            "{error}"
        );
        let error = load(Path::new("/")).expect_err("a directory");
        assert!(matches!(error, OrdersError::Unreadable { .. }), "{error}");
    }

    #[test]
    fn an_empty_file_is_an_error_with_and_without_header() {
        for text in ["", "\n\n", HEADER] {
            assert!(
                complaint(text).starts_with("orders.csv: holds no orders"),
                "{text:?}: {}",
                complaint(text)
            );
        }
    }

    #[test]
    fn every_missing_column_is_named() {
        let text = complaint("invoice,stock_code,price,invoiced_at,country\n1,10000,1.00,d,UK\n");
        assert!(
            text.starts_with(
                "orders.csv:1: the header lacks quantity, unit_price_gbp; it holds invoice,"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_bad_number_is_shown_with_file_line_and_column() {
        let good = "1,10000,1,1.00,d,UK\n";
        for (bad, expected) in [
            (
                "1,10000,six,1.00,d,UK\n",
                "orders.csv:4: quantity is \"six\", which is not a whole number",
            ),
            (
                "1,10000,1.5,1.00,d,UK\n",
                "orders.csv:4: quantity is \"1.5\"",
            ),
            (
                "1,10000,99999999999999999999,1.00,d,UK\n",
                "orders.csv:4: quantity is \"99999999999999999999\"",
            ),
            (
                "1,10000,1,\"1,00\",d,UK\n",
                "orders.csv:4: unit_price_gbp is \"1,00\", which is not an amount",
            ),
            ("1,10000,1,,d,UK\n", "orders.csv:4: unit_price_gbp is \"\""),
            (
                "1,10000,1,NaN,d,UK\n",
                "orders.csv:4: unit_price_gbp is \"NaN\"",
            ),
        ] {
            let text = complaint(&format!("{HEADER}{good}{good}{bad}{good}"));
            assert!(text.starts_with(expected), "{text}");
        }
    }

    #[test]
    fn a_blank_name_is_shown_with_file_line_and_column() {
        assert!(
            complaint(&format!("{HEADER},10000,1,1.00,d,UK\n"))
                .starts_with("orders.csv:2: invoice is blank")
        );
        assert!(
            complaint(&format!("{HEADER}1,,1,1.00,d,UK\n"))
                .starts_with("orders.csv:2: stock_code is blank")
        );
    }

    #[test]
    fn the_line_is_right_behind_a_field_of_several_lines() {
        let text = complaint(&format!(
            "{HEADER}1,10000,1,1.00,d,\"U\nK\"\n1,10000,x,1.00,d,UK\n"
        ));
        assert!(text.starts_with("orders.csv:4: quantity"), "{text}");
    }

    #[test]
    fn a_line_that_is_no_record_is_an_error_with_its_place() {
        let text = complaint(&format!("{HEADER}1,10000,1,1.00,d,UK\n1,10000,1,1.00\n"));
        assert!(
            text.starts_with("orders.csv:3: the line has 4 fields, the header 6"),
            "{text}"
        );
        let mut bytes = HEADER.as_bytes().to_vec();
        bytes.extend(b"1,10000,1,1.00,d,\xff\xfe\n");
        let text = parse(Path::new("orders.csv"), &bytes)
            .expect_err("not UTF-8")
            .to_string();
        assert!(
            text.starts_with("orders.csv:2: field 6 is not UTF-8"),
            "{text}"
        );
    }
}
