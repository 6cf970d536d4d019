//! Values that go through the record: they come back as they were, or are refused where they are made.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use skail_runtime::prelude::*;
use skail_runtime::{ExecutionError, FailureKind};

use super::support::{Bench, Gates, Runs, soon};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    Prices { by_article: BTreeMap<u32, i64> },
    None,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Flat {
    name: String,
    #[serde(flatten)]
    by_article: BTreeMap<u32, i64>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Sparse {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    second: Vec<u32>,
    third: u32,
}

/// One of everything that other formats are known to lose.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Everything {
    unsigned: (u64, u128),
    signed: (i64, i128),
    floats: Vec<f64>,
    nothing: ((), String, Vec<u8>, Option<u8>),
    letters: (char, String),
    bytes: Vec<u8>,
    by_number: HashMap<u32, String>,
    by_pair: BTreeMap<(u8, Size), f32>,
    by_size: HashMap<Size, BTreeSet<u8>>,
    tagged: (Tagged, Tagged),
    flat: Flat,
    sparse: (Sparse, Sparse),
    times: (Duration, std::time::SystemTime),
    id: uuid::Uuid,
    json: serde_json::Value,
}

fn everything() -> Everything {
    let by_article = BTreeMap::from([(7, -1), (u32::MAX, i64::MIN)]);
    Everything {
        unsigned: (u64::MAX, u128::MAX),
        signed: (i64::MIN, i128::MIN),
        floats: vec![
            0.1 + 0.2,
            f64::MAX,
            f64::MIN_POSITIVE,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ],
        nothing: ((), String::new(), Vec::new(), None),
        letters: ('𝕊', "näher, ok\u{0}, 👩‍🚀".to_owned()),
        bytes: (0..=255).collect(),
        by_number: (0..50).map(|n| (n, n.to_string())).collect(),
        by_pair: BTreeMap::from([((1, Size::Small), 1.5), ((1, Size::Large), -0.25)]),
        by_size: HashMap::from([
            (Size::Small, (0..40).collect()),
            (Size::Large, BTreeSet::new()),
        ]),
        tagged: (
            Tagged::Prices {
                by_article: by_article.clone(),
            },
            Tagged::None,
        ),
        flat: Flat {
            name: "flat".to_owned(),
            by_article,
        },
        sparse: (
            Sparse::default(),
            Sparse {
                first: Some(0),
                second: vec![1],
                third: 2,
            },
        ),
        times: (
            Duration::new(u64::MAX, 999_999_999),
            std::time::UNIX_EPOCH + Duration::from_nanos(1),
        ),
        id: uuid::Uuid::from_u128(17),
        json: serde_json::json!({"big": 3_544_790_567_247_868_102_u64, "none": null, "list": [1, "a", 0.5]}),
    }
}

#[skail_command(retry_count = 0)]
async fn gives_back(value: Everything) -> anyhow::Result<Everything> {
    anyhow::ensure!(value == everything(), "an argument changed: {value:?}");
    Ok(value)
}

#[skail_command]
async fn stands_at_the_payload_gate(#[state] gates: &Gates) -> anyhow::Result<()> {
    gates.pass("payload").await;
    Ok(())
}

#[skail_command(retry_count = 0)]
async fn gives_a_set() -> anyhow::Result<HashSet<u32>> {
    Ok((0..100).collect())
}

#[skail_function(retry_count = 0)]
async fn sends_everything_around(value: Everything) -> anyhow::Result<Everything> {
    anyhow::ensure!(value == everything(), "an argument changed: {value:?}");
    let back = gives_back(value).await?;
    anyhow::ensure!(back == everything(), "a result changed: {back:?}");
    let set = gives_a_set().await?;
    anyhow::ensure!(set == (0..100).collect(), "a set changed: {set:?}");
    stands_at_the_payload_gate().await?;
    Ok(back)
}

#[tokio::test]
async fn everything_comes_back_as_it_was_live_and_in_replay() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let id = ExecutionId::new("everything").unwrap();
    skail
        .start(sends_everything_around(everything()))
        .id(&id)
        .await
        .unwrap();
    bench.gates.reached("payload", 1).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("payload", 1);
    let execution = skail.execution::<Everything>(&id).await.unwrap();
    assert_eq!(
        soon("the result", execution.result()).await.unwrap(),
        everything()
    );
}

#[skail_command(retry_count = 0)]
async fn gives_no_number() -> anyhow::Result<(f64, Option<f32>)> {
    Ok((f64::NAN, Some(-f32::NAN)))
}

#[skail_function(retry_count = 0)]
async fn looks_at_no_number() -> anyhow::Result<bool> {
    let (one, other) = gives_no_number().await?;
    Ok(one.is_nan() && other.is_some_and(|other| other.is_nan() && other.is_sign_negative()))
}

#[tokio::test]
async fn a_nan_stays_a_nan() {
    let skail = Bench::new().engine().await;
    let execution = skail.start(looks_at_no_number()).await.unwrap();
    assert!(execution.result().await.unwrap());
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Nested(Vec<Nested>);

fn nested(depth: u32) -> Nested {
    (0..depth).fold(Nested(Vec::new()), |inside, _| Nested(vec![inside]))
}

#[skail_command]
async fn nests(#[state] runs: &Runs, depth: u32) -> anyhow::Result<Nested> {
    runs.count(&format!("nested {depth}"));
    Ok(nested(depth))
}

#[skail_function(retry_count = 0)]
async fn nests_deep(depth: u32) -> anyhow::Result<bool> {
    Ok(nests(depth).await? == nested(depth))
}

#[tokio::test]
async fn two_hundred_levels_come_back_and_too_many_are_refused_when_they_are_recorded() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(nests_deep(200)).await.unwrap();
    assert!(execution.result().await.unwrap());
    let execution = skail.start(nests_deep(1_500)).await.unwrap();
    let error = execution.result().await.unwrap_err().to_string();
    assert!(
        error.contains("command `nests` (position 0) unrecordable after 1 attempt"),
        "{error}"
    );
    assert_eq!(bench.runs.of("nested 1500"), 1);
}

/// A value for each way not to survive.
#[derive(Debug, Serialize, Deserialize)]
enum Lost {
    Twice(Option<Option<u32>>),
    Unit(Option<()>),
    Null(Option<serde_json::Value>),
    Path(std::path::PathBuf),
    Wide(Wide),
    Long(String),
}

/// 128 bits inside an untagged enum can be written but not read back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Wide {
    Number { value: u128 },
}

fn lost(which: u32) -> Option<Lost> {
    use std::os::unix::ffi::OsStringExt as _;
    let path = std::ffi::OsString::from_vec(b"/tmp/\xff".to_vec());
    Some(match which {
        0 => Lost::Twice(Some(None)),
        1 => Lost::Unit(Some(())),
        2 => Lost::Null(Some(serde_json::Value::Null)),
        3 => Lost::Path(path.into()),
        4 => Lost::Wide(Wide::Number { value: 1 }),
        5 => Lost::Long("x".repeat(2_000)),
        _ => return None,
    })
}

#[skail_command]
async fn gives_what_is_lost(#[state] runs: &Runs, which: u32) -> anyhow::Result<Option<Lost>> {
    runs.count(&format!("gives {which}"));
    Ok(lost(which))
}

#[skail_command]
async fn takes_what_is_lost(#[state] runs: &Runs, value: Option<Lost>) -> anyhow::Result<()> {
    runs.count("takes");
    drop(value);
    Ok(())
}

type Refusal = (FailureKind, u32, String);

#[skail_function(retry_count = 0)]
async fn meets_refusals(which: u32) -> anyhow::Result<(Refusal, Refusal)> {
    let seen = |error: &CommandError| (error.kind(), error.attempts(), error.message().to_owned());
    let given = gives_what_is_lost(which).await.unwrap_err();
    let taken = takes_what_is_lost(lost(which)).await.unwrap_err();
    Ok((seen(&given), seen(&taken)))
}

#[skail_function]
async fn returns_what_is_lost(#[state] runs: &Runs, which: u32) -> anyhow::Result<Option<Lost>> {
    runs.count("returns");
    Ok(lost(which))
}

#[skail_function]
async fn passes_the_refusal_on(which: u32) -> anyhow::Result<()> {
    gives_what_is_lost(which).await?;
    Ok(())
}

#[tokio::test]
async fn a_function_that_passes_such_an_error_on_does_not_have_the_effect_again() {
    let bench = Bench::new();
    let skail = bench.engine().await;
    let execution = skail.start(passes_the_refusal_on(0)).await.unwrap();
    execution.result().await.unwrap_err();
    assert_eq!(bench.runs.of("gives 0"), 1);
}

#[tokio::test]
async fn what_would_not_come_back_is_a_final_error_of_the_command_that_gave_or_took_it() {
    let bench = Bench::new();
    let skail = bench.builder().payload_limit(1_000).start().await.unwrap();
    let says = [
        "a `Some` with nothing in it",
        "a `Some` with nothing in it",
        "a `Some` with nothing in it",
        "path contains invalid UTF-8 characters",
        "it was written but cannot be read back",
        "more than the limit of 1000",
    ];
    for (which, says) in (0..).zip(says) {
        let execution = skail.start(meets_refusals(which)).await.unwrap();
        let (given, taken) = execution.result().await.unwrap();
        assert_eq!(
            (given.0, given.1),
            (FailureKind::Unrecordable, 1),
            "{given:?}"
        );
        assert_eq!(
            (taken.0, taken.1),
            (FailureKind::Unrecordable, 0),
            "{taken:?}"
        );
        assert!(given.2.contains(says), "{given:?}");
        assert!(taken.2.contains(says), "{taken:?}");
        assert_eq!(
            bench.runs.of(&format!("gives {which}")),
            1,
            "no further attempt can help"
        );

        let execution = skail.start(returns_what_is_lost(which)).await.unwrap();
        let error = execution.result().await.unwrap_err();
        assert!(
            matches!(error, ExecutionError::Failed { attempts: 1, .. }),
            "{error}"
        );
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(bench.runs.of("returns"), which + 1);
    }
    assert_eq!(
        bench.runs.of("takes"),
        0,
        "no body ran with an argument that had changed"
    );
}

#[skail_command]
async fn takes_a_map(#[state] runs: &Runs, map: HashMap<u32, u32>) -> anyhow::Result<usize> {
    runs.count("takes_a_map");
    Ok(map.len())
}

#[skail_command]
async fn takes_a_set(#[state] runs: &Runs, list: Vec<u32>) -> anyhow::Result<usize> {
    runs.count("takes_a_set");
    Ok(list.len())
}

#[skail_function]
async fn passes_a_map() -> anyhow::Result<usize> {
    let taken = takes_a_map((0..100).map(|n| (n, n)).collect()).await?;
    stands_at_the_payload_gate().await?;
    Ok(taken)
}

#[skail_function]
async fn passes_a_set() -> anyhow::Result<usize> {
    let set: HashSet<u32> = (0..100).collect();
    let taken = takes_a_set(set.into_iter().collect()).await?;
    stands_at_the_payload_gate().await?;
    Ok(taken)
}

#[tokio::test]
async fn a_hash_map_may_be_an_argument_and_a_list_from_a_hash_set_is_found_out_by_name() {
    let mut bench = Bench::new();
    let skail = bench.engine().await;
    let (map, set) = (
        ExecutionId::new("map").unwrap(),
        ExecutionId::new("set").unwrap(),
    );
    skail.start(passes_a_map()).id(&map).await.unwrap();
    skail.start(passes_a_set()).id(&set).await.unwrap();
    bench.gates.reached("payload", 2).await;
    let skail = bench.crash(skail).await;
    bench.gates.open("payload", 1);
    let map = skail.execution::<usize>(&map).await.unwrap();
    assert_eq!(soon("the map", map.result()).await.unwrap(), 100);
    let set = skail.execution::<usize>(&set).await.unwrap();
    let error = soon("the set", set.result()).await.unwrap_err();
    assert!(matches!(error, ExecutionError::Blocked { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("a `HashSet`, or a list made from a `HashMap`"),
        "{error}"
    );
    assert_eq!(
        (bench.runs.of("takes_a_map"), bench.runs.of("takes_a_set")),
        (1, 1)
    );
}
