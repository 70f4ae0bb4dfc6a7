//! The product of a column of numbers: `cargo run --release -p warpmp --example column_product < numbers.txt`, one decimal
//! number a line.
//!
//! A tree of products: each level multiplies the first half of the lanes by the second half, and has half as many lanes,
//! twice as wide. All products of a level are one call.

use std::io;

use warpmp::{Batch, Result, Session};

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let lines = io::stdin().lines().collect::<io::Result<Vec<_>>>()?;
    let numbers: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    // A decimal digit is less than 3.33 bits.
    let digits = numbers.iter().map(|number| number.len()).max().unwrap_or(1);
    let column = Batch::from_dec(digits * 333 / 100 + 1, &numbers)?;
    println!("{}", product(&Session::open(), column)?);
    Ok(())
}

/// The product of all lanes; 1 if there are none.
fn product(session: &Session, mut column: Batch<'static>) -> Result<Batch<'static>> {
    if column.is_empty() {
        return Ok(Batch::from_u64s(&[1]));
    }
    while column.lanes() > 1 {
        let half = column.lanes() / 2;
        let products = session.mul(&column.slice(0..half), &column.slice(half..2 * half))?;
        column = if column.lanes().is_multiple_of(2) {
            products
        } else {
            // The lane that is left over is multiplied by the last product of this level.
            let last = session.mul(&products.slice(half - 1..half), &column.slice(2 * half..2 * half + 1))?;
            joined(&products.slice(0..half - 1), &last)?
        };
    }
    Ok(column)
}

/// The lanes of both, as wide as those of the second.
fn joined(first: &Batch, last: &Batch) -> Result<Batch<'static>> {
    let rows: Vec<Vec<u8>> = (0..first.lanes())
        .filter_map(|lane| first.to_le_bytes(lane))
        .chain((0..last.lanes()).filter_map(|lane| last.to_le_bytes(lane)))
        .collect();
    Batch::from_le_bytes(last.bits(), &rows)
}
