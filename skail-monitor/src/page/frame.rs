//! What is around every page: head, navigation, foot.

use maud::{DOCTYPE, Markup, html};

use super::assets::{ICON, SCRIPT, STYLE};
use super::lang::Lang;

/// What a page says of itself.
pub(super) struct Frame<'a> {
    pub(super) lang: Lang,
    pub(super) title: &'a str,
    /// The path of the entry of the navigation that it belongs to; `None` without a navigation.
    pub(super) place: Option<&'a str>,
    /// The address of the live stream that tells its changes.
    pub(super) live: Option<String>,
    /// Whether one can log out.
    pub(super) guarded: bool,
}

impl<'a> Frame<'a> {
    /// Without navigation.
    pub(super) fn bare(lang: Lang, title: &'a str) -> Self {
        Self {
            lang,
            title,
            place: None,
            live: None,
            guarded: false,
        }
    }
}

pub(super) fn frame(about: &Frame<'_>, body: &Markup) -> Markup {
    let texts = about.lang.texts();
    html! {
        (DOCTYPE)
        html lang=(about.lang.code()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (about.title) " · Skail" }
                link rel="icon" href=(ICON);
                link rel="stylesheet" href=(STYLE);
                script src=(SCRIPT) defer {}
            }
            body data-live=[about.live.as_deref()] {
                a.skip href="#main" { (texts.skip) }
                header {
                    span.brand { "Skail" }
                    @if let Some(place) = about.place {
                        nav aria-label=(texts.navigation) {
                            @for (path, text) in [("/", texts.overview), ("/executions", texts.executions)] {
                                a href=(path) aria-current=[(path == place).then_some("page")] { (text) }
                            }
                        }
                        @if about.live.is_some() {
                            span #live.live role="status" data-on=(texts.live_on) data-off=(texts.live_off) {}
                        }
                        @if about.guarded {
                            form method="post" action="/logout" { button type="submit" { (texts.log_out) } }
                        }
                    }
                }
                main #main tabindex="-1" { (body) }
            }
        }
    }
}
