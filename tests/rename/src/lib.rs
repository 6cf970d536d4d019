//! The attributes in a crate that knows the runtime by another name.

/// A name of our own for the runtime, one module down.
pub mod facade {
    pub use durable;
}

#[cfg(test)]
mod tests {
    use durable::prelude::*;
    use durable::store::MemoryStore;

    #[skail_command(
        crate = durable,
        retry_count = 2,
        backoff(base = "1ms"),
        timeout = "10s",
        idempotency_key = "greet-{name}"
    )]
    async fn greet(#[state] greeting: &String, name: String) -> anyhow::Result<String> {
        let key = idempotency_key();
        Ok(format!("{greeting}, {name} ({key})"))
    }

    #[skail_command(crate = crate::facade::durable, blocking)]
    fn shout(text: String) -> anyhow::Result<String> {
        Ok(text.to_uppercase())
    }

    #[skail_function(crate = durable, retry_count = 1)]
    async fn welcome(name: String) -> anyhow::Result<String> {
        let text = greet(name).await?;
        Ok(shout(text).await?)
    }

    #[tokio::test]
    async fn a_renamed_runtime_runs_what_the_attributes_wrote() -> anyhow::Result<()> {
        let skail = Skail::builder()
            .store(MemoryStore::new())
            .state("hello".to_owned())
            .start()
            .await?;
        let welcome = skail.start(welcome("ada".to_owned())).id("ada").await?;
        assert_eq!(welcome.result().await?, "HELLO, ADA (GREET-ADA)");
        skail.shutdown().await?;
        Ok(())
    }
}
