//! Products whose blocks are columns, in panels or strips: a warp's products, one after the other.

use warpmp_kernel::build::{Builder, Emit};

use super::layout::Layout;
use super::products::{Products, Rows};
use super::result::Target;
use super::warps::Place;

/// Most panels for which addresses are kept from product to product. With more, `ptxas` takes fifty registers more than where they are computed anew.
const KEEPING: u32 = 3;

/// Steps between barriers.
const FENCE: u32 = 8;

impl Layout {
    /// The products of a warp.
    pub(super) fn products(self, b: &mut Builder, place: &Place, products: &Products<'_, impl Rows>) {
        let Products { rows, multiplication, warps, .. } = *products;
        let shared = place.shared;
        self.clear(b, place);
        let waiting = self.waiting(b);
        let waiting = waiting.as_deref();
        // Where `a` is, if it has two places.
        let turn = b.copy(0);
        let factors = |b: &mut Builder| [0, 1].map(|i| products.factor(b, place, i, self.words_of_lane(i)));
        let from = factors(b);
        let to = products.result(b, place, products.product);
        self.fetch(b, place, from, turn, waiting);
        b.do_while(|b| {
            b.section("operands");
            b.copy_wait(0);
            b.warp_barrier();
            let here = b.add(shared, turn);
            match waiting {
                Some(words) => self.arrange_waiting(b, place, words),
                None => self.arrange(b, place, (shared, self.b()), self.work),
            }
            let source = self.source(b, place, here);
            b.warp_barrier();
            products.advance(b);
            let other = self.other_place(b, turn);
            let more = products.is_there(b);
            let strides = rows.strides().filter(|_| self.panels <= KEEPING);
            let keeps = strides.is_some();
            if let Some([first, second, _]) = strides {
                warps.advance(b, from[0], first);
                warps.advance(b, from[1], second);
            }
            b.if_(more, |b| {
                let from = if keeps { from } else { factors(b) };
                self.fetch(b, place, from, other, waiting);
                rows.prefetch(b, place.lane, products.product);
            });
            b.section("multiply");
            let sums = self.product_sums(b, place, source, FENCE);
            let before = products.before(b);
            let to = if keeps { to } else { products.result(b, place, before) };
            let addends = rows.addends(b, before);
            let target = Target { to, part: multiplication.part, addends: &addends };
            self.finish(b, place, &sums, &target);
            if let Some([_, _, result]) = strides {
                warps.advance(b, to, result);
            }
            b.set(turn, other);
            products.is_there(b)
        });
    }
}
