//! Small signs that tell series apart where colours do not.
//!
//! **Invariant:** a sign is one path around its place, and needs no fill to be
//! told from the others.

/// How far a sign reaches from its place.
const R: f64 = 3.4;

/// The sign of a series, as a path.
pub(super) fn of_series(series: usize, x: f64, y: f64) -> String {
    const SIGNS: [fn(f64, f64) -> String; 5] = [circle, square, triangle, diamond, cross];
    SIGNS[series % SIGNS.len()](x, y)
}

pub(super) fn circle(x: f64, y: f64) -> String {
    let (left, d) = (x - R, 2.0 * R);
    format!("M{left:.1} {y:.1}a{R} {R} 0 1 0 {d} 0a{R} {R} 0 1 0 -{d} 0z")
}

fn square(x: f64, y: f64) -> String {
    let (left, top, d) = (x - R, y - R, 2.0 * R);
    format!("M{left:.1} {top:.1}h{d}v{d}h-{d}z")
}

fn triangle(x: f64, y: f64) -> String {
    let (top, d) = (y - R, 2.0 * R);
    format!("M{x:.1} {top:.1}l{R} {d}h-{d}z")
}

pub(super) fn diamond(x: f64, y: f64) -> String {
    let (top, r) = (y - 1.3 * R, 1.3 * R);
    format!("M{x:.1} {top:.1}l{r:.1} {r:.1}l-{r:.1} {r:.1}l-{r:.1} -{r:.1}z")
}

pub(super) fn cross(x: f64, y: f64) -> String {
    let (left, top, d) = (x - R, y - R, 2.0 * R);
    format!("M{left:.1} {top:.1}l{d} {d}m0 -{d}l-{d} {d}")
}
