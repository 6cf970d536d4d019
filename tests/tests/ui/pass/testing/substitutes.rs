//! Substitutes need no types written: the command says them. Also for private types behind a `pub`.

mod shop {
    use serde::{Deserialize, Serialize};
    use skail_runtime::skail_command;

    #[derive(Debug, Serialize, Deserialize)]
    struct Line {
        article: String,
    }

    #[derive(Debug, thiserror::Error, Serialize, Deserialize)]
    #[error("the shop is shut")]
    pub struct Shut;

    #[skail_command]
    #[allow(private_interfaces)]
    pub async fn pick(line: Line, pieces: u32) -> Result<Vec<String>, Shut> {
        Ok(vec![line.article; pieces as usize])
    }

    #[skail_command(blocking, name = "print_label")]
    pub fn print() -> anyhow::Result<()> {
        Ok(())
    }

    pub fn substitutes() -> skail_runtime::testing::TestBuilder {
        skail_runtime::testing::TestSkail::builder()
            .replace::<pick>()
            .with(|(line, pieces)| match pieces {
                0 => Err(Shut),
                _ => Ok(vec![line.article.to_uppercase()]),
            })
            .replace::<print>()
            .with_async(|()| async { anyhow::bail!("no paper") })
    }
}

fn main() {
    let _ = shop::substitutes();
    let _ = (shop::print(), std::any::type_name::<shop::pick>());
}
