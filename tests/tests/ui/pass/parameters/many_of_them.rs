//! There is no tuple that could end at some number of parameters.
#![deny(warnings)]

use skail_runtime::skail_command;

#[skail_command(idempotency_key = "{a}{t}")]
#[expect(clippy::too_many_arguments)]
async fn sum(
    a: u8, b: u8, c: u8, d: u8, e: u8, f: u8, g: u8, h: u8, i: u8, j: u8,
    k: u8, l: u8, m: u8, n: u8, o: u8, p: u8, q: u8, r: u8, s: u8, t: u8,
) -> anyhow::Result<u32> {
    let all = [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t];
    Ok(all.into_iter().map(u32::from).sum())
}

fn main() {
    let _ = sum(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20);
}
