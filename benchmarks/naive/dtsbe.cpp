// Backward elimination over a memoised lattice of case sets, as one would write it first: one
// thread, no missing values, no weights; at every node each column is sorted, and every tree is
// walked anew. A plain program that takes the same steps as DTsbe, which bench_subset.py compares
// with it.
//
//   dtsbe TABLE    prints the seconds of the fastest of several runs, the trees that were walked,
//                        the case sets that were made, the errors and the features that are left
//
// TABLE has eight-byte integers. It opens with the numbers of rows, columns, classes and search
// rows. Each column follows: whether it is nominal, its number of values, its code in each row, and
// its values as floating-point numbers. Then come the class of each row and the search rows. The
// other rows grow the trees.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <unordered_map>
#include <vector>

constexpr int MIN_LEAF = 2;
constexpr int CLASS_BITS = 6;  // of a key; the code of the value is above

struct Column {
    bool is_nominal = false;
    std::uint32_t n_values = 0;
    std::vector<std::uint32_t> codes;
    std::vector<double> values;
};

struct Table {
    std::uint32_t n_rows = 0, n_classes = 0;
    std::vector<Column> columns;
    std::vector<std::uint32_t> classes, training, search;
};

struct Node;

struct Split {
    double quality = 0.0;
    int feature = -1;
    std::uint32_t low = 0;  // numeric: the last code of branch 0
    std::vector<Node*> children;
    bool operator<(const Split& other) const {
        return quality != other.quality ? quality > other.quality : feature < other.feature;
    }
};

struct Node {
    std::vector<std::uint32_t> rows, search, counts;
    std::uint32_t label = 0;
    int errors = 0;  // as a leaf
    bool stops = false, is_ranked = false;
    std::vector<Split> ranking;
};

struct Tree {
    int errors = 0, n_leaves = 0;
    std::vector<char> used;
};

std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
}

class Lattice {
public:
    explicit Lattice(const Table& table) : table_(table) {
        for (std::uint32_t n = 0; n <= table.n_rows; ++n) {
            logs_.push_back(n ? n * std::log2(n) : 0.0);
        }
        root_ = make(table.training, table.search, 0);
    }

    Tree walk(const std::vector<char>& is_in) {
        Tree tree;
        tree.used.assign(is_in.size(), 0);
        add(root_, is_in, tree);
        return tree;
    }
    std::size_t n_case_sets() const { return nodes_.size() + empty_.size(); }

private:
    void add(Node* node, const std::vector<char>& is_in, Tree& tree) {
        Split* split = first_split(node, is_in);
        if (split == nullptr) {
            tree.errors += node->errors;
            ++tree.n_leaves;
            return;
        }
        if (split->children.empty()) part(node, *split);
        tree.used[split->feature] = 1;
        for (Node* child : split->children) add(child, is_in, tree);
    }

    Split* first_split(Node* node, const std::vector<char>& is_in) {
        if (node->stops) return nullptr;
        if (!node->is_ranked) rank(node);
        for (Split& split : node->ranking) {
            if (is_in[split.feature]) return &split;
        }
        return nullptr;
    }

    void rank(Node* node) {
        node->is_ranked = true;
        double impurity = logs_[node->rows.size()];
        for (std::uint32_t count : node->counts) impurity -= logs_[count];
        for (std::size_t j = 0; j < table_.columns.size(); ++j) {
            const Column& column = table_.columns[j];
            Split split;
            split.feature = static_cast<int>(j);
            double gain =
                column.is_nominal ? by_category(node, column) : by_threshold(node, column, split);
            // On a grid, so that rounding makes no differences.
            split.quality = std::nearbyint((gain + impurity) / impurity * 0x1p34) * 0x1p-34;
            if (gain > -1e300 && split.quality > 0.0) node->ranking.push_back(std::move(split));
        }
        std::sort(node->ranking.begin(), node->ranking.end());
    }

    // Minus the weighted impurity of the branches, less the penalty of C4.5; -inf without a split.
    double by_threshold(const Node* node, const Column& column, Split& split) {
        const std::uint32_t k = table_.n_classes;
        const int n = static_cast<int>(node->rows.size());
        keys_.clear();
        for (std::uint32_t row : node->rows) {
            keys_.push_back(column.codes[row] << CLASS_BITS | table_.classes[row]);
        }
        std::sort(keys_.begin(), keys_.end());
        left_.assign(k, 0);
        right_ = node->counts;
        double sum_left = 0.0, sum_right = 0.0, best = -INFINITY;
        for (std::uint32_t count : right_) sum_right += logs_[count];
        int n_tried = 0, place = 0;
        for (int i = 0; i + 1 < n; ++i) {
            const std::uint32_t c = keys_[i] & ((1u << CLASS_BITS) - 1);
            sum_left += logs_[left_[c] + 1] - logs_[left_[c]];
            sum_right += logs_[right_[c] - 1] - logs_[right_[c]];
            ++left_[c];
            --right_[c];
            if (keys_[i] >> CLASS_BITS == keys_[i + 1] >> CLASS_BITS || i + 1 < MIN_LEAF) continue;
            if (n - i - 1 < MIN_LEAF) break;
            ++n_tried;
            const double score = sum_left + sum_right - logs_[i + 1] - logs_[n - i - 1];
            if (score > best + 1e-9) {
                best = score;
                place = i;
            }
        }
        if (n_tried == 0) return best;
        const double low = column.values[keys_[place] >> CLASS_BITS],
                     high = column.values[keys_[place + 1] >> CLASS_BITS];
        const double threshold = low / 2 + high / 2;
        split.low = keys_[place] >> CLASS_BITS;
        while (column.values[split.low + 1] <= threshold) ++split.low;
        return best - std::log2(n_tried);
    }

    double by_category(const Node* node, const Column& column) {
        const std::uint32_t k = table_.n_classes;
        cells_.assign(static_cast<std::size_t>(column.n_values) * k, 0);
        for (std::uint32_t row : node->rows) ++cells_[column.codes[row] * k + table_.classes[row]];
        double score = 0.0;
        int n_branches = 0, n_heavy = 0;
        for (std::uint32_t v = 0; v < column.n_values; ++v) {
            std::uint32_t n = 0;
            for (std::uint32_t c = 0; c < k; ++c) {
                score += logs_[cells_[v * k + c]];
                n += cells_[v * k + c];
            }
            score -= logs_[n];
            n_branches += n > 0;
            n_heavy += n >= MIN_LEAF;
        }
        return n_branches > 1 && n_heavy > 1 ? score : -INFINITY;
    }

    void part(Node* node, Split& split) {
        const Column& column = table_.columns[split.feature];
        std::vector<std::uint32_t> branch_of(column.n_values);
        std::uint32_t n_branches = 2, n_filled = 2;
        if (column.is_nominal) {
            std::vector<char> is_present(column.n_values, 0);
            for (std::uint32_t row : node->rows) is_present[column.codes[row]] = 1;
            n_filled = 0;
            for (char present : is_present) n_filled += present;
            std::uint32_t next = 0;
            for (std::uint32_t v = 0; v < column.n_values; ++v) {
                branch_of[v] = is_present[v] ? next++ : n_filled;
            }
            n_branches = n_filled + (n_filled < column.n_values);
        } else {
            for (std::uint32_t v = 0; v < column.n_values; ++v) branch_of[v] = v > split.low;
        }
        std::vector<std::vector<std::uint32_t>> rows(n_branches), search(n_branches);
        for (std::uint32_t row : node->rows) rows[branch_of[column.codes[row]]].push_back(row);
        for (std::uint32_t row : node->search) search[branch_of[column.codes[row]]].push_back(row);
        for (std::uint32_t b = 0; b < n_branches; ++b) {
            split.children.push_back(make(std::move(rows[b]), std::move(search[b]), node->label));
        }
    }

    Node* make(std::vector<std::uint32_t> rows, std::vector<std::uint32_t> search,
               std::uint32_t parent_label) {
        std::uint64_t key = 0;
        for (std::uint32_t row : rows) key += mix(row);
        for (std::uint32_t row : search) key += mix(row + 0x100000000ull);
        if (!rows.empty()) {
            const auto found = nodes_.find(key);
            if (found != nodes_.end()) return found->second.get();
        }
        auto node = std::make_unique<Node>();
        node->rows = std::move(rows);
        node->search = std::move(search);
        node->counts.assign(table_.n_classes, 0);
        for (std::uint32_t row : node->rows) ++node->counts[table_.classes[row]];
        const auto most = std::max_element(node->counts.begin(), node->counts.end());
        node->label = node->rows.empty() ? parent_label
                                         : static_cast<std::uint32_t>(most - node->counts.begin());
        node->stops = *most == node->rows.size() || node->rows.size() < 2 * MIN_LEAF;
        for (std::uint32_t row : node->search) node->errors += table_.classes[row] != node->label;
        Node* raw = node.get();
        if (node->rows.empty()) {
            empty_.push_back(std::move(node));
        } else {
            nodes_.emplace(key, std::move(node));
        }
        return raw;
    }

    const Table& table_;
    std::vector<double> logs_;
    std::unordered_map<std::uint64_t, std::unique_ptr<Node>> nodes_;
    std::vector<std::unique_ptr<Node>> empty_;
    Node* root_;
    std::vector<std::uint32_t> keys_, left_, right_, cells_;
};

struct Result {
    Tree tree;
    std::size_t n_trees = 1, n_case_sets = 0;
};

Result eliminate(const Table& table) {
    Lattice lattice(table);
    std::vector<char> is_in(table.columns.size(), 1);
    Result result;
    result.tree = lattice.walk(is_in);
    std::vector<Tree> trials(is_in.size());
    std::vector<char> is_known(is_in.size(), 0);
    for (;;) {
        Tree& tree = result.tree;
        int best = -1;
        for (std::size_t a = 0; a < is_in.size(); ++a) {
            if (!tree.used[a]) continue;
            if (!is_known[a]) {
                is_in[a] = 0;
                trials[a] = lattice.walk(is_in);
                is_in[a] = 1;
                is_known[a] = 1;
                ++result.n_trees;
            }
            const Tree& trial = trials[a];
            if (trial.errors > tree.errors) continue;
            if (best < 0 || trial.errors < trials[best].errors ||
                (trial.errors == trials[best].errors && trial.n_leaves < trials[best].n_leaves)) {
                best = static_cast<int>(a);
            }
        }
        // Unused features leave first where nothing is gained; the tree stays as it is.
        std::vector<int> removed;
        if (best < 0 || trials[best].errors == tree.errors) {
            for (std::size_t a = 0; a < is_in.size(); ++a) {
                if (is_in[a] && !tree.used[a]) removed.push_back(static_cast<int>(a));
            }
        }
        if (removed.empty()) {
            if (best < 0) break;
            removed.push_back(best);
            tree = trials[best];
        }
        for (int b : removed) is_in[b] = 0;
        // T_a stays what it is while no feature leaves that it uses.
        for (std::size_t a = 0; a < is_in.size(); ++a) {
            for (int b : removed) is_known[a] = is_known[a] && !trials[a].used[b];
        }
    }
    result.n_case_sets = lattice.n_case_sets();
    return result;
}

Table read(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const auto next = [&] {
        std::int64_t number = 0;
        file.read(reinterpret_cast<char*>(&number), sizeof number);
        return number;
    };
    const auto list = [&](std::size_t n) {
        std::vector<std::uint32_t> numbers(n);
        for (std::uint32_t& number : numbers) number = static_cast<std::uint32_t>(next());
        return numbers;
    };
    Table table;
    table.n_rows = static_cast<std::uint32_t>(next());
    table.columns.resize(next());
    table.n_classes = static_cast<std::uint32_t>(next());
    const std::int64_t n_search = next();
    for (Column& column : table.columns) {
        column.is_nominal = next() != 0;
        column.n_values = static_cast<std::uint32_t>(next());
        column.codes = list(table.n_rows);
        column.values.resize(column.n_values);
        file.read(reinterpret_cast<char*>(column.values.data()), 8 * column.n_values);
    }
    table.classes = list(table.n_rows);
    table.search = list(n_search);
    std::vector<char> is_searched(table.n_rows, 0);
    for (std::uint32_t row : table.search) is_searched[row] = 1;
    for (std::uint32_t row = 0; row < table.n_rows; ++row) {
        if (!is_searched[row]) table.training.push_back(row);
    }
    return table;
}

int main(int, char** arguments) {
    const Table table = read(arguments[1]);
    double least = INFINITY, total = 0.0;
    Result result;
    for (int run = 0; run < 3 || (run < 20 && total < 0.5); ++run) {
        const auto start = std::chrono::steady_clock::now();
        result = eliminate(table);
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        least = std::min(least, passed.count());
        total += passed.count();
    }
    std::printf("%.6f %zu %zu %d", least, result.n_trees, result.n_case_sets, result.tree.errors);
    for (std::size_t a = 0; a < result.tree.used.size(); ++a) {
        if (result.tree.used[a]) std::printf(" %zu", a);
    }
    std::printf("\n");
}
