//! The error of a codelet, from its own instructions.
//!
//! To first order every instruction makes an error of its own, and the linear map from its result to the codelet's outputs
//! carries the error there: `error = Σ T_k·δ_k·V_k·x`, where `V_k` is the result as a function of the inputs `x`,
//! `T_k` what reaches the outputs, and `|δ_k| ≤ u`. A constant that is wrong by `e` makes the error `e` times its factor.
//! Errors of second order are below 10⁻⁹ of these: 20 instructions one after another, whose absolute values grow by at most
//! 5 a level of a codelet; the margin below has room for them.

use std::collections::BTreeMap;

use super::trace::{Double, Origin, Trace};

/// Half the distance from 1 to the next double.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Room for errors of second order and of this computation.
const MARGIN: f64 = 1.0 + 1e-6;

/// A source of errors: the value that is multiplied by the error, and the transfer to the outputs.
type Source = (Vec<f64>, Vec<f64>);

/// A codelet: values of one run that depend on each other.
#[derive(Debug, Default)]
pub(crate) struct Codelet {
    /// Of each instruction: its linear terms in inputs and earlier results with their coefficients, and its errors.
    steps: Vec<Step>,
    inputs: usize,
    /// Results that leave the codelet, real and imaginary parts in turn.
    outputs: Vec<usize>,
}

/// The result of an instruction.
#[derive(Debug, Default)]
struct Step {
    /// Values and their coefficients. Inputs come before results.
    terms: Vec<(usize, f64)>,
    /// Is the result rounded?
    rounded: bool,
    /// A value that is multiplied by a constant, and the error of the constant.
    inexact: Option<(usize, f64)>,
}

impl Codelet {
    /// The codelets of a trace in these sections, each with its section.
    pub(crate) fn all<'t>(trace: &'t Trace, sections: &[&str]) -> Vec<(&'t str, Self)> {
        let count = trace.values.len();
        let mut leaves = vec![false; count];
        for (number, value) in trace.values.iter().enumerate() {
            leaves[number] |= value.stored;
            for source in sources(value.origin) {
                leaves[source] |= trace.values[source].run != value.run;
            }
        }
        let mut all = Vec::new();
        let mut members = vec![Vec::new(); trace.runs.len()];
        for number in (0..count).filter(|&number| is_result(trace, number)) {
            members[trace.values[number].run].push(number);
        }
        let wanted = |section: &str| sections.contains(&section);
        for (section, members) in trace.runs.iter().zip(members).filter(|(section, _)| wanted(section)) {
            for group in components(trace, &members) {
                all.push((section.as_str(), Self::of(trace, &group, &leaves)));
            }
        }
        all
    }

    /// The codelet of these results.
    fn of(trace: &Trace, members: &[usize], leaves: &[bool]) -> Self {
        let mut inputs: Vec<usize> = members.iter().flat_map(|&i| sources(trace.values[i].origin)).collect();
        inputs.retain(|it| members.binary_search(it).is_err());
        inputs.sort_unstable();
        inputs.dedup();
        let number = |value: usize| match inputs.binary_search(&value) {
            Ok(i) => i,
            Err(_) => inputs.len() + members.binary_search(&value).expect("a member"),
        };
        let steps = members.iter().map(|&i| Step::of(trace.values[i].origin, number)).collect();
        let outputs = members.iter().filter(|&&i| leaves[i]).map(|&i| number(i)).collect();
        Self { steps, inputs: inputs.len(), outputs }
    }

    /// The complex numbers that it gives.
    pub(crate) fn points(&self) -> usize {
        self.outputs.len() / 2
    }

    /// Everything that the errors depend on.
    pub(crate) fn signature(&self) -> Vec<u64> {
        let mut signature = vec![self.inputs as u64, self.outputs.len() as u64];
        for step in &self.steps {
            signature.push(u64::from(step.rounded) + 2 * step.terms.len() as u64);
            signature.extend(step.terms.iter().flat_map(|&(value, factor)| [value as u64, factor.to_bits()]));
            signature.extend(step.inexact.iter().flat_map(|&(value, error)| [value as u64, error.to_bits()]));
        }
        signature.extend(self.outputs.iter().map(|&it| it as u64));
        signature
    }

    /// Each value as a function of the inputs.
    fn values(&self) -> Vec<Vec<f64>> {
        let mut values: Vec<Vec<f64>> = (0..self.inputs).map(|i| unit(i, self.inputs)).collect();
        for step in &self.steps {
            let mut value = vec![0.0; self.inputs];
            for &(source, factor) in &step.terms {
                add(&mut value, &values[source], factor);
            }
            values.push(value);
        }
        values
    }

    /// What reaches the outputs of a change of each value.
    fn transfers(&self) -> Vec<Vec<f64>> {
        let count = self.outputs.len();
        let mut transfers = vec![vec![0.0; count]; self.inputs + self.steps.len()];
        for (i, &output) in self.outputs.iter().enumerate() {
            transfers[output][i] = 1.0;
        }
        for (i, step) in self.steps.iter().enumerate().rev() {
            let own = transfers[self.inputs + i].clone();
            for &(source, factor) in &step.terms {
                add(&mut transfers[source], &own, factor);
            }
        }
        transfers
    }

    /// The sources of errors, in pairs of neighbouring instructions: the values that are multiplied by the errors, the
    /// transfers to the outputs, and the bound on the errors in units of 2⁻⁵³.
    fn errors(&self) -> Vec<[Source; 2]> {
        let (values, transfers) = (self.values(), self.transfers());
        let mut sources: [Vec<Source>; 2] = Default::default();
        let scaled = |value: &[f64], by: f64| value.iter().map(|it| it * by).collect::<Vec<f64>>();
        for (i, step) in self.steps.iter().enumerate() {
            let transfer = &transfers[self.inputs + i];
            if step.rounded {
                sources[0].push((values[self.inputs + i].clone(), transfer.clone()));
            }
            if let Some((value, error)) = step.inexact {
                sources[1].push((scaled(&values[value], error / UNIT), transfer.clone()));
            }
        }
        let nothing = || (vec![0.0; self.inputs], vec![0.0; self.outputs.len()]);
        let pairs = |sources: Vec<Source>| {
            let mut sources = sources.into_iter();
            let mut pairs = Vec::new();
            while let Some(first) = sources.next() {
                pairs.push([first, sources.next().unwrap_or_else(nothing)]);
            }
            pairs
        };
        sources.into_iter().flat_map(pairs).collect()
    }

    /// The norm of the map from the inputs to the errors of the outputs, Euclidean norms on both sides, in units of 2⁻⁵³.
    pub(crate) fn euclidean(&self) -> f64 {
        let errors: Vec<Source> = self.errors().into_iter().flatten().collect();
        let norm = |v: &[f64]| v.iter().map(|it| it * it).sum::<f64>().sqrt();
        // |T·D·V| ≤ |T·S⁻¹|·|S·V| for every positive diagonal S.
        let mut grams =
            [vec![vec![0.0; self.inputs]; self.inputs], vec![vec![0.0; self.outputs.len()]; self.outputs.len()]];
        for (value, transfer) in errors {
            let (v, t) = (norm(&value), norm(&transfer));
            if v == 0.0 || t == 0.0 {
                continue;
            }
            for (gram, row, weight) in [(0, &value, t / v), (1, &transfer, v / t)] {
                for (line, &x) in grams[gram].iter_mut().zip(row) {
                    add(line, row, weight * x);
                }
            }
        }
        let [v, t] = grams.map(|gram| greatest_eigenvalue(&gram));
        (v * t).sqrt() * MARGIN
    }

    /// The greatest coefficient of the map from complex inputs to the errors of complex outputs, in units of 2⁻⁵³.
    pub(crate) fn greatest(&self) -> f64 {
        let mut sums = vec![vec![0.0; self.inputs / 2]; self.outputs.len() / 2];
        for [first, second] in self.errors() {
            let block = |i: usize, of: fn(&Source) -> &Vec<f64>| {
                norm_of_block([of(&first)[2 * i], of(&first)[2 * i + 1], of(&second)[2 * i], of(&second)[2 * i + 1]])
            };
            let values: Vec<f64> = (0..self.inputs / 2).map(|i| block(i, |it| &it.0)).collect();
            for (i, sums) in sums.iter_mut().enumerate() {
                add(sums, &values, block(i, |it| &it.1));
            }
        }
        sums.into_iter().flatten().fold(0.0, f64::max) * MARGIN
    }
}

impl Step {
    fn of(origin: Origin, number: impl Fn(usize) -> usize) -> Self {
        let mut step = Self { rounded: !matches!(origin, Origin::Minus(_) | Origin::Rounded(..)), ..Self::default() };
        let mut term = |it: Double, factor: f64| match it {
            Double::Value(value) => step.terms.push((number(value), factor)),
            Double::Constant { value, .. } => assert!(value == 0.0, "a codelet is linear"),
        };
        let product = match origin {
            Origin::Sum(terms, signs) => {
                terms.into_iter().zip(signs).for_each(|(it, sign)| term(it, sign));
                None
            }
            Origin::Minus(a) => {
                term(a, -1.0);
                None
            }
            Origin::Product(a, b) | Origin::Rounded(a, b) => Some((a, b)),
            Origin::Fused(a, b, c) => {
                term(c, 1.0);
                Some((a, b))
            }
            Origin::Digit | Origin::Loaded => unreachable!("inputs are no results"),
        };
        match product {
            None => {}
            Some(
                (Double::Value(value), Double::Constant { value: factor, error })
                | (Double::Constant { value: factor, error }, Double::Value(value)),
            ) => {
                step.terms.push((number(value), factor));
                step.inexact = (error > 0.0).then(|| (number(value), error));
            }
            Some(_) => panic!("a codelet is linear"),
        }
        step
    }
}

fn is_result(trace: &Trace, number: usize) -> bool {
    !matches!(trace.values[number].origin, Origin::Digit | Origin::Loaded)
}

/// The values that an origin reads.
fn sources(origin: Origin) -> impl Iterator<Item = usize> {
    let value = |it: Double| match it {
        Double::Value(value) => Some(value),
        Double::Constant { .. } => None,
    };
    let read = match origin {
        Origin::Digit | Origin::Loaded => [None; 3],
        Origin::Minus(a) => [value(a), None, None],
        Origin::Sum([a, b], _) | Origin::Product(a, b) | Origin::Rounded(a, b) => [value(a), value(b), None],
        Origin::Fused(a, b, c) => [value(a), value(b), value(c)],
    };
    read.into_iter().flatten()
}

/// The results that share inputs or results, each group in order.
fn components(trace: &Trace, members: &[usize]) -> Vec<Vec<usize>> {
    // Of each value one with which it is connected; a value without another is the root of its group.
    let mut above: Vec<usize> = (0..trace.values.len()).collect();
    for &member in members {
        for source in sources(trace.values[member].origin) {
            let [a, b] = [member, source].map(|it| root(&mut above, it));
            above[a] = b;
        }
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for &member in members {
        groups.entry(root(&mut above, member)).or_default().push(member);
    }
    groups.into_values().collect()
}

/// The root of a value's group.
fn root(above: &mut [usize], mut value: usize) -> usize {
    while above[value] != value {
        above[value] = above[above[value]];
        value = above[value];
    }
    value
}

fn unit(i: usize, size: usize) -> Vec<f64> {
    (0..size).map(|j| f64::from(u8::from(i == j))).collect()
}

/// `a += factor·b`.
fn add(a: &mut [f64], b: &[f64], factor: f64) {
    for (a, b) in a.iter_mut().zip(b) {
        *a += factor * b;
    }
}

/// The norm of the matrix with the rows `(a, b)` and `(c, d)`.
fn norm_of_block([a, b, c, d]: [f64; 4]) -> f64 {
    let (squares, determinant) = (a * a + b * b + c * c + d * d, a * d - b * c);
    let root = (squares * squares - 4.0 * determinant * determinant).max(0.0).sqrt();
    f64::midpoint(squares, root).sqrt()
}

/// A bound on the eigenvalues of a symmetric matrix whose eigenvalues are not negative: the matrix `λ − M` has a Cholesky
/// decomposition.
fn greatest_eigenvalue(matrix: &[Vec<f64>]) -> f64 {
    let size = matrix.len();
    let mut vector: Vec<f64> = (0..size).map(|i| 1.0 + (i as f64 * 0.7).sin()).collect();
    let mut estimate = 0.0;
    for _ in 0..40 {
        let next: Vec<f64> = matrix.iter().map(|row| row.iter().zip(&vector).map(|(m, v)| m * v).sum()).collect();
        estimate = next.iter().map(|it: &f64| it * it).sum::<f64>().sqrt();
        vector = next.into_iter().map(|it| it / estimate).collect();
    }
    let mut bound = estimate * (1.0 + 1e-4);
    while !is_positive(matrix, bound) {
        bound *= 1.002;
    }
    bound * (1.0 + 1e-9)
}

/// Has `λ − M` a Cholesky decomposition?
fn is_positive(matrix: &[Vec<f64>], lambda: f64) -> bool {
    let size = matrix.len();
    let mut lower = vec![vec![0.0; size]; size];
    for i in 0..size {
        for j in 0..=i {
            let product: f64 = lower[i][..j].iter().zip(&lower[j][..j]).map(|(a, b)| a * b).sum();
            let own = if i == j { lambda - matrix[i][i] } else { -matrix[i][j] };
            let rest = own - product;
            if i == j && rest <= 0.0 {
                return false;
            }
            lower[i][j] = if i == j { rest.sqrt() } else { rest / lower[j][j] };
        }
    }
    true
}
