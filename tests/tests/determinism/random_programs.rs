//! The property: 10,000 random programs, each run through random crashes.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use skail_tests::{CrashPoint, Moment};

use super::harness::live;
use super::program::{Call, Kind, Node};

/// How many programs are tried.
const CASES: u32 = 10_000;

fn calls() -> impl Strategy<Value = Call> {
    (0..4_u8, prop_oneof![4 => Just(0_u8), 1 => 1..4_u8], 0..3_u8).prop_map(
        |(yields, failures, retries)| Call {
            label: 0,
            yields,
            failures,
            retries,
        },
    )
}

fn programs() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        6 => calls().prop_map(Node::Step),
        1 => calls().prop_map(Node::Abandoned),
        1 => calls().prop_map(Node::Unpolled),
        2 => (calls(), calls()).prop_map(|(one, other)| Node::Crossed(one, other)),
        1 => prop_oneof![Just(Kind::Now), Just(Kind::Random), Just(Kind::Record)]
            .prop_map(|kind| Node::Value(0, kind)),
        // None, in memory, and out of it.
        2 => prop_oneof![Just(0), Just(1), Just(2_000), Just(3_000), Just(60_000)]
            .prop_map(|millis| Node::Sleep(0, millis)),
    ];
    leaf.prop_recursive(3, 14, 4, |node| {
        let some = || prop::collection::vec(node.clone(), 1..4);
        prop_oneof![
            3 => some().prop_map(Node::Sequence),
            2 => some().prop_map(Node::Join),
            2 => some().prop_map(Node::Unordered),
            2 => some().prop_map(Node::Race),
            1 => (node.clone(), node.clone())
                .prop_map(|(one, other)| Node::Held(Box::new(one), Box::new(other))),
            1 => node.clone().prop_map(|node| Node::Patched(Box::new(node))),
            2 => (prop_oneof![Just(0), Just(1), Just(2_500), Just(90_000)], node.clone())
                .prop_map(|(millis, node)| Node::Bound(0, millis, Box::new(node))),
        ]
    })
    .prop_map(|mut program| {
        number(&mut program, &mut 0);
        program
    })
}

/// Gives every call of a program its own label.
fn number(node: &mut Node, next: &mut u32) {
    let mut give = |label: &mut u32| {
        *label = *next;
        *next += 1;
    };
    match node {
        Node::Step(call) | Node::Abandoned(call) | Node::Unpolled(call) => give(&mut call.label),
        Node::Value(label, _) | Node::Sleep(label, _) => give(label),
        Node::Crossed(one, other) => {
            give(&mut one.label);
            give(&mut other.label);
        }
        Node::Patched(node) => number(node, next),
        Node::Bound(label, _, node) => {
            give(label);
            number(node, next);
        }
        Node::Sequence(nodes) | Node::Join(nodes) | Node::Unordered(nodes) | Node::Race(nodes) => {
            nodes.iter_mut().for_each(|node| number(node, next));
        }
        Node::Held(one, other) => {
            number(one, next);
            number(other, next);
        }
    }
}

fn crashes() -> impl Strategy<Value = Vec<CrashPoint>> {
    let crash = (
        0..12_u64,
        prop_oneof![Just(Moment::Before), Just(Moment::After)],
    )
        .prop_map(|(commit, moment)| CrashPoint { commit, moment });
    prop::collection::vec(crash, 0..4)
}

#[test]
fn the_same_way_is_taken_again_whatever_was_joined_raced_or_dropped() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let cases = (programs(), any::<bool>(), any::<u64>(), crashes());
    runner
        .run(&cases, |(program, strict, seed, crashes)| {
            runtime.block_on(live(&program, strict, seed, &crashes));
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
}
