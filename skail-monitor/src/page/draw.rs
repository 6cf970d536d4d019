//! Draws bars, times and values. Everything that came from an execution is escaped here, by `maud`.

use maud::{Markup, html};
use serde_json::Value;
use skail_runtime::codec::Payload;
use skail_runtime::error::Failure;

use super::lang::Texts;
use super::timeline::{Bar, BarKind};
use crate::time;

/// The most characters of a value; the whole is in the history.
const MOST_SHOWN: usize = 4_000;

/// How wide a picture is, in units of its own.
const WIDTH: i64 = 1_000;

/// What can still be seen.
const LEAST: i64 = 4;

/// Bars between two points in time, as wide as there is room. What they say is said in words beside them.
pub(super) fn bars(bars: &[Bar], from: i64, to: i64) -> Markup {
    let span = i128::from(to.saturating_sub(from).max(1));
    let place = |at: i64| {
        let at = i128::from(at.saturating_sub(from)) * i128::from(WIDTH) / span;
        i64::try_from(at).unwrap_or(WIDTH).clamp(0, WIDTH)
    };
    let drawn = bars.iter().map(|bar| {
        let x = place(bar.from).min(WIDTH - LEAST);
        let width = (place(bar.to) - x).max(LEAST);
        let (y, height) = match bar.kind {
            BarKind::Delay | BarKind::Wait => (6, 4),
            BarKind::Done | BarKind::Failed | BarKind::Open => (2, 12),
        };
        (x, y, width, height, class(bar.kind))
    });
    html! {
        svg.bars viewBox="0 0 1000 16" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            @for (x, y, width, height, class) in drawn {
                rect class=(class) x=(x) y=(y) width=(width) height=(height) {}
            }
        }
    }
}

fn class(kind: BarKind) -> &'static str {
    match kind {
        BarKind::Done => "done",
        BarKind::Failed => "failed",
        BarKind::Delay => "delay",
        BarKind::Wait => "wait",
        BarKind::Open => "open",
    }
}

/// A point in time; the script writes it in the reader's own.
pub(super) fn time(millis: i64) -> Markup {
    html! { time datetime=[time::machine(millis)] { (time::shown(millis)) } }
}

/// A status in the reader's language.
pub(super) fn status_word<'a>(texts: &'a Texts, word: &'a str) -> &'a str {
    match word {
        "running" => texts.running,
        "blocked" => texts.blocked,
        "failed" => texts.failed,
        "completed" => texts.completed,
        other => other,
    }
}

/// A status as a word and a colour.
pub(super) fn status(texts: &Texts, word: &str) -> Markup {
    html! { span.status data-status=(word) { (status_word(texts, word)) } }
}

/// A value as JSON. The one place where the page shows what was recorded.
pub(super) fn value(texts: &Texts, payload: &Payload) -> Markup {
    let text = match serde_json::to_value(payload) {
        Ok(Value::Object(mut readable)) => match readable.remove("value") {
            Some(value) => serde_json::to_string_pretty(&value).unwrap_or_default(),
            None => match readable.remove("shown") {
                Some(Value::String(shown)) => shown,
                _ => payload.preview(MOST_SHOWN),
            },
        },
        _ => payload.preview(MOST_SHOWN),
    };
    text_of(texts, &text)
}

/// A text that may be long.
pub(super) fn text_of(texts: &Texts, text: &str) -> Markup {
    let end = text.char_indices().nth(MOST_SHOWN).map(|(at, _)| at);
    html! {
        pre tabindex="0" { (text.get(..end.unwrap_or(text.len())).unwrap_or_default()) }
        @if end.is_some() { p.hint { (texts.cut) } }
    }
}

/// An error with its causes, and the value of a typed one.
pub(super) fn failure(texts: &Texts, failure: &Failure) -> Markup {
    html! {
        p.problem { span.kind { (failure.kind) ": " } (failure.message) }
        @if !failure.causes.is_empty() {
            ol.causes aria-label=(texts.causes) { @for cause in &failure.causes { li { (cause) } } }
        }
        @if let Some(typed) = &failure.typed { (value(texts, typed)) }
    }
}
