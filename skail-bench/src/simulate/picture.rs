//! The pictures of the documentation, as SVG.
//!
//! Owns how they look: a shade for the time in which a service is down, a thin line for the usual load. Must never compute a figure: what is drawn is what the tables hold.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::contention::{self, Curve};
use super::outage::{self, DOWN, Outcome, UP};

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Colours that also those tell apart who see few of them (Okabe and Ito).
const COLORS: [RGBColor; 5] = [
    RGBColor(0x77, 0x77, 0x77),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0x00, 0x9e, 0x73),
];

const INK: RGBColor = RGBColor(0x33, 0x33, 0x33);
const GRID: RGBColor = RGBColor(0xe4, 0xe4, 0xe4);
const FONT: &str = "sans-serif";

/// Draws `contention.svg`: calls on the left, time on the right.
pub(super) fn contention(curves: &[Curve], out: &Path) -> anyhow::Result<()> {
    let path = out.join("contention.svg");
    let root = SVGBackend::new(&path, (1_060, 460)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(530);
    let calls = |outcome: &contention::Outcome| outcome.calls;
    let seconds = |outcome: &contention::Outcome| outcome.millis / 1_000.0;
    curves_of(
        &left,
        curves,
        "Calls until all have written",
        "calls",
        calls,
    )?;
    curves_of(
        &right,
        curves,
        "Seconds until all have written",
        "seconds",
        seconds,
    )?;
    root.present()?;
    Ok(())
}

/// One panel with a line per strategy, on a logarithmic scale.
fn curves_of(
    area: &Area<'_>,
    curves: &[Curve],
    title: &str,
    unit: &str,
    value: impl Fn(&contention::Outcome) -> f64,
) -> anyhow::Result<()> {
    let values = || {
        let points = curves.iter().flat_map(|curve| &curve.points);
        points.map(|(_, outcome)| value(outcome))
    };
    let least = values().fold(f64::MAX, f64::min) / 1.3;
    let most = values().fold(0.0, f64::max) * 1.3;
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .caption(title, (FONT, 18).into_font().color(&INK))
        .x_label_area_size(42)
        .y_label_area_size(62)
        .build_cartesian_2d(0.0..200.0, (least..most).log_scale())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .label_style((FONT, 13).into_font().color(&INK))
        .x_desc("clients that want the same row")
        .y_desc(unit)
        .x_label_formatter(&|clients| format!("{clients:.0}"))
        .y_label_formatter(&|value| number(*value))
        .draw()?;
    for (curve, color) in curves.iter().zip(COLORS) {
        let points = curve.points.iter();
        let points = points.map(|(clients, outcome)| (f64::from(*clients), value(outcome)));
        chart
            .draw_series(LineSeries::new(points, color.stroke_width(3)))?
            .label(curve.strategy.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], color.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerRight)
        .legend_area_size(28)
        .margin(8)
        .background_style(WHITE.mix(0.85))
        .border_style(GRID)
        .label_font((FONT, 13).into_font().color(&INK))
        .draw()?;
    Ok(())
}

/// As much of the time around the outage as is shown, in seconds since it began.
const SHOWN: std::ops::Range<f64> = -4.0..40.0;

/// The highest load that is shown, by the usual one.
const TOP: f64 = 7.0;

/// Draws `outage.svg`: the load over time, a panel per strategy.
pub(super) fn outage(outcomes: &[(outage::Strategy, Outcome)], out: &Path) -> anyhow::Result<()> {
    let path = out.join("outage.svg");
    let root = SVGBackend::new(&path, (1_060, 640)).into_drawing_area();
    root.fill(&WHITE)?;
    for ((strategy, outcome), area) in outcomes.iter().zip(root.split_evenly((2, 3))) {
        load(&area, strategy.name(), outcome)?;
    }
    root.present()?;
    Ok(())
}

fn load(area: &Area<'_>, name: &str, outcome: &Outcome) -> anyhow::Result<()> {
    let mut chart = ChartBuilder::on(area)
        .margin(10)
        .caption(name, (FONT, 16).into_font().color(&INK))
        .x_label_area_size(38)
        .y_label_area_size(44)
        .build_cartesian_2d(SHOWN, 0.0..TOP)?;
    let down = (UP - DOWN).as_secs_f64();
    let shade = RGBColor(0xfb, 0xe3, 0xd6).filled();
    chart.draw_series([Rectangle::new([(0.0, 0.0), (down, TOP)], shade)])?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(GRID)
        .axis_style(INK)
        .y_labels(8)
        .label_style((FONT, 12).into_font().color(&INK))
        .x_desc("seconds since it went down")
        .y_desc("load, usual = 1")
        .x_label_formatter(&|second| format!("{second:.0}"))
        .y_label_formatter(&|load| format!("{load:.0}"))
        .draw()?;
    let bars = outcome
        .load
        .iter()
        .enumerate()
        .filter_map(|(second, calls)| {
            let begin = second as f64 - DOWN.as_secs_f64();
            let height = (f64::from(*calls) / f64::from(outage::RATE)).min(TOP);
            let seen = SHOWN.contains(&begin);
            let color = if height > 1.5 { COLORS[1] } else { COLORS[3] };
            seen.then(|| Rectangle::new([(begin, 0.0), (begin + 0.92, height)], color.filled()))
        });
    chart.draw_series(bars)?;
    chart.draw_series(LineSeries::new(
        [(SHOWN.start, 1.0), (SHOWN.end, 1.0)],
        INK.stroke_width(1),
    ))?;
    let style = (FONT, 14).into_font().color(&INK);
    let peak = format!("peak afterwards: {:.2}", outcome.peak());
    chart.draw_series([Text::new(peak, (14.0, TOP * 0.9), style.clone())])?;
    if outcome.peak_while_down() > TOP {
        let high = format!("peak while down: {:.0}", outcome.peak_while_down());
        chart.draw_series([Text::new(high, (14.0, TOP * 0.8), style)])?;
    }
    Ok(())
}

/// A number with as many places as it needs on an axis.
fn number(value: f64) -> String {
    if value >= 1.0 {
        format!("{value:.0}")
    } else {
        format!("{value}")
    }
}
