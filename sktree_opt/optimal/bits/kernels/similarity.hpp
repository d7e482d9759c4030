// Similarity bound: one solved column gives bounds for all others. Included once per instruction
// set.
//
// Paper: Demirovic et al., MurTree, JMLR 23 (2022), section 4.4, eq. 9 and Proposition 9: T(new) >=
// T(old) - |old \ new|. Removing a row lowers the optimum by at most what the row can cost, and
// adding a row never lowers it.
//   T(old) -> optimum_true / optimum_false of the solved column f;   new -> either side of column g
//   |old \ new| -> weight of the rows in one and not in the other, times `loss` a unit of weight
// Deviation: the paper compares with the two stored datasets that are nearest. Here every solved
// column bounds every other one, on both sides, as the overlaps n_fg are at hand from the kernel.
// Valid where cost never falls when rows are added and no leaf needs a minimum support.
// Time O(n_columns) a solved column.
template <class Lane>
void refresh_bounds(const Lane* overlaps,  // IN: n_fg by column g
                    const Lane* weights,   // IN: n_g
                    Lane weight,           // IN: n_f
                    Lane total,            // IN: n
                    double loss, SolvedSides solved, int n_columns,
                    double* bounds_true,   // IN and OUT: lower bounds of the side that has g
                    double* bounds_false)  // IN and OUT: of the other side
{
    const double n = total, n_f = weight;
    for (int g = 0; g < n_columns; ++g) {
        const double n_fg = overlaps[g], n_g = weights[g];
        const double true_by_true = solved.optimum_true - loss * (n_f - n_fg);
        const double true_by_false = solved.optimum_false - loss * (n - n_f - (n_g - n_fg));
        const double false_by_false = solved.optimum_false - loss * (n_g - n_fg);
        const double false_by_true = solved.optimum_true - loss * n_fg;
        const double with = true_by_true > true_by_false ? true_by_true : true_by_false;
        const double without = false_by_false > false_by_true ? false_by_false : false_by_true;
        bounds_true[g] = bounds_true[g] > with ? bounds_true[g] : with;
        bounds_false[g] = bounds_false[g] > without ? bounds_false[g] : without;
    }
}
