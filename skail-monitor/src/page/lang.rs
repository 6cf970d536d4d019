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
    running: "running", "em andamento";
    blocked: "blocked", "bloqueada";
    failed: "failed", "falhou";
    completed: "completed", "concluída";
    done: "done", "feito";
    going_on: "going on", "em andamento";
    trouble: "This cannot be shown", "Não é possível mostrar";
    last_problems: "Last problems", "Últimos problemas";
    no_problems: "Nothing has failed or is blocked.", "Nada falhou nem está bloqueado.";
    functions: "Functions", "Funções";
    function: "Function", "Função";
    unknown_function: "not in this process: its executions wait", "não está neste processo: suas execuções esperam";
    dependencies: "Dependencies", "Dependências";
    dependency: "Dependency", "Dependência";
    breaker: "Circuit breaker", "Disjuntor";
    closed: "closed", "fechado";
    open: "open: calls wait", "aberto: chamadas esperam";
    half_open: "half-open: a few calls go through", "meio aberto: poucas chamadas passam";
    waiting: "Waiting", "Esperando";
    retries_left: "Retries left", "Novas tentativas restantes";
    attempts: "attempts", "tentativas";
    attempt: "Attempt", "Tentativa";
    of_them_retries: "of them retries", "das quais repetidas";
    of_them_failed: "of them failed", "das quais falharam";
    since_start: "Counted since this process started.", "Contado desde o início deste processo.";
    execution: "Execution", "Execução";
    status: "Status", "Estado";
    started: "Started", "Iniciada";
    updated: "Last change", "Última mudança";
    due: "Due", "Prevista para";
    problem: "Problem", "Problema";
    words: "Words in error, id or tag", "Palavras no erro, id ou etiqueta";
    prefix: "Id begins with", "Id começa com";
    tag: "Tag (name:value)", "Etiqueta (nome:valor)";
    started_from: "Started from (UTC)", "Iniciada desde (UTC)";
    started_before: "Started before (UTC)", "Iniciada antes de (UTC)";
    any: "any", "qualquer";
    filter: "Filter", "Filtrar";
    clear: "Clear", "Limpar";
    newer: "The list has changed: show it anew", "A lista mudou: mostrar de novo";
    none_found: "No execution fits.", "Nenhuma execução corresponde.";
    none_here: "None fits so far; there are more to look at.", "Nenhuma até aqui; há mais para procurar.";
    damaged: "its record cannot be read", "seu registro não pode ser lido";
    select: "Select", "Selecionar";
    select_all: "Select all", "Selecionar todas";
    resume_selected: "Resume selected…", "Retomar selecionadas…";
    delete_selected: "Delete selected…", "Excluir selecionadas…";
    nothing_selected: "Select at least one execution.", "Selecione ao menos uma execução.";
    more_pages: "More", "Mais";
    first_page: "First page", "Primeira página";
    next_page: "Next page", "Próxima página";
    from_the_start: "From the start", "Desde o início";
    later_events: "Later events", "Eventos posteriores";
    what_went_wrong: "What went wrong", "O que deu errado";
    causes: "Causes", "Causas";
    result: "Result", "Resultado";
    arguments: "Arguments", "Argumentos";
    timeline: "Timeline", "Linha do tempo";
    bars_begin: "Most starts of attempts are not recorded: a bar begins at the event before, or when the attempt was due, and may hold a wait for a breaker, a budget or a place.", "A maioria dos inícios de tentativas não é registrada: a barra começa no evento anterior, ou quando a tentativa era devida, e pode incluir uma espera por disjuntor, orçamento ou lugar.";
    attempts_made: "Attempts", "Tentativas";
    next_attempt: "Next attempt after", "Próxima tentativa após";
    notes: "Other events", "Outros eventos";
    cut: "Cut here; the downloaded history has all of it.", "Cortado aqui; o histórico baixado tem tudo.";
    resume: "Resume", "Retomar";
    delete: "Delete", "Excluir";
    download: "Download history", "Baixar histórico";
    resume_means: "It goes on with fresh attempts. Finished steps do not run again.", "Continua com novas tentativas. Passos concluídos não rodam de novo.";
    delete_means: "History and result are gone for good, and the id is free.", "Histórico e resultado somem de vez, e o id fica livre.";
    accept: "Accept changed arguments: the recorded result of the step holds for the new ones", "Aceitar argumentos mudados: o resultado registrado do passo vale para os novos";
    by: "Who are you?", "Quem é você?";
    reason: "Why?", "Por quê?";
    back: "Back", "Voltar";
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
