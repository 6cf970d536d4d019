//! The page's words, in each of its languages.

use axum::http::{HeaderMap, header};

/// A language of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lang {
    En,
    Pt,
}

impl Lang {
    /// The one that a browser likes best, of those that there are.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let wished = headers
            .get(header::ACCEPT_LANGUAGE)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default();
        let mut best = (Self::En, 0.0);
        for part in wished.split(',') {
            let mut pieces = part.split(';');
            let name = pieces
                .next()
                .unwrap_or_default()
                .trim()
                .to_ascii_lowercase();
            let weight = pieces
                .find_map(|piece| piece.trim().strip_prefix("q=")?.parse().ok())
                .unwrap_or(1.0_f32);
            let lang = match name.split('-').next() {
                Some("pt") => Self::Pt,
                Some("en" | "*") => Self::En,
                _ => continue,
            };
            // The first of equals: browsers list them as they like them.
            if weight > best.1 {
                best = (lang, weight);
            }
        }
        best.0
    }

    /// Its code.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::En => "en",
            Self::Pt => "pt",
        }
    }

    pub(crate) const fn texts(self) -> &'static Texts {
        match self {
            Self::En => &Texts::EN,
            Self::Pt => &Texts::PT,
        }
    }
}

/// Each word of the page by its name, in English and in Portuguese: none can be forgotten.
macro_rules! texts {
    ($($name:ident: $en:literal, $pt:literal;)*) => {
        /// The page's words in one language.
        #[derive(Debug)]
        pub(crate) struct Texts { $(pub(crate) $name: &'static str,)* }

        impl Texts {
            const EN: Self = Self { $($name: $en,)* };
            const PT: Self = Self { $($name: $pt,)* };
        }
    };
}

texts! {
    skip: "Skip to the content", "Ir para o conteúdo";
    navigation: "Pages", "Páginas";
    overview: "Overview", "Visão geral";
    executions: "Executions", "Execuções";
    token: "Token", "Token";
    token_why: "This Monitor is guarded by a token.", "Este Monitor é protegido por um token.";
    token_wrong: "This is not the token.", "Este não é o token.";
    log_in: "Log in", "Entrar";
    log_out: "Log out", "Sair";
    live_on: "live", "ao vivo";
    live_off: "not live", "sem atualização";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_that_the_browser_likes_best() {
        for (wished, lang) in [
            ("", Lang::En),
            ("de,fr", Lang::En),
            ("pt-BR,pt;q=0.9,en;q=0.8", Lang::Pt),
            ("en-US,en;q=0.9,pt;q=0.8", Lang::En),
            ("de, PT;q=0.5, en;q=0.4", Lang::Pt),
            ("en;q=0.1, pt;q=x", Lang::Pt),
            ("*", Lang::En),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_LANGUAGE, wished.parse().unwrap());
            assert_eq!(Lang::of(&headers), lang, "{wished}");
        }
    }
}
