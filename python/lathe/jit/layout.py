"""Places for the nodes of a directed graph, in layers from top to bottom.

After Sugiyama, Tagawa and Toda (1981): each node in the layer after the last of those that it
reads; stand-ins where an edge passes a layer; the order within a layer by the mean place of
neighbours, swept down and up; then x by least squares with the order and the gaps kept, which
pooling of adjacent violators solves. Time grows as edges times the layers that they pass, of which
an edge takes _FAR at most: a longer one is drawn straight.
"""

_GAP, _BETWEEN = 18, 34  # between neighbours, and between layers
_SWEEPS, _MOVES = 6, 4
_FAR = 24
_THIN = 8  # the width that an edge is given


class Layout:
    """sizes: (width, height) of each node; edges: (from, to), from the earlier to the later where
    there is an order. Then: places, (x, y) of each node's corner; routes, the points between the
    ends of each edge; width and height of all."""

    def __init__(self, sizes, edges):
        self.sizes = list(sizes)
        count = len(self.sizes)
        edges = sorted({(a, b) for a, b in edges if a != b})
        self.layer = self._layers(count, edges)
        self.routes = {}
        self.up, self.down = [[] for _ in self.sizes], [[] for _ in self.sizes]
        for edge in edges:
            self._route(*edge)
        self.rows = self._order()
        self.x = [0.0] * len(self.sizes)
        for row in self.rows:
            self._spread(row, lambda n: self.x[n])
        for _ in range(_MOVES):
            self._move(self.rows[1:], self.up)
            self._move(self.rows[-2::-1], self.down)
        self._place(count)

    def _layers(self, count, edges):
        after, waits = [[] for _ in range(count)], [0] * count
        for a, b in edges:
            after[a].append(b)
            waits[b] += 1
        layer, ready = [0] * count, [n for n in range(count) if not waits[n]]
        done = 0
        while done < len(ready):
            n = ready[done]
            done += 1
            for b in after[n]:
                layer[b] = max(layer[b], layer[n] + 1)
                waits[b] -= 1
                if not waits[b]:
                    ready.append(b)
        reads = {b for _, b in edges}
        for n in range(count):  # what reads nothing stands near those that read it
            if n not in reads and after[n]:
                layer[n] = max(min(layer[b] for b in after[n]) - 1, 0)
        return layer

    def _route(self, a, b):
        first, last = self.layer[a], self.layer[b]
        between = range(first + 1, last) if last - first <= _FAR else ()
        chain = [a]
        for layer in between:
            self.sizes.append((_THIN, 0))
            self.layer.append(layer)
            self.up.append([])
            self.down.append([])
            chain.append(len(self.sizes) - 1)
        chain.append(b)
        if last > first:
            for n, m in zip(chain, chain[1:]):
                self.down[n].append(m)
                self.up[m].append(n)
        self.routes[a, b] = chain[1:-1]

    def _order(self):
        rows = [[] for _ in range(max(self.layer, default=0) + 1)]
        for n, layer in enumerate(self.layer):
            rows[layer].append(n)
        place = {n: i for row in rows for i, n in enumerate(row)}
        for sweep in range(_SWEEPS):
            near = self.up if sweep % 2 == 0 else self.down
            for row in rows if sweep % 2 == 0 else reversed(rows):
                means = {
                    n: sum(place[m] for m in near[n]) / len(near[n]) if near[n] else place[n]
                    for n in row
                }
                row.sort(key=means.get)
                place.update((n, i) for i, n in enumerate(row))
        return rows

    def _move(self, rows, near):
        for row in rows:
            wanted = {
                n: sum(self.x[m] for m in near[n]) / len(near[n]) if near[n] else self.x[n]
                for n in row
            }
            self._spread(row, wanted.get)

    def _spread(self, row, wanted):
        """Centres as near as can be to those wanted, in order and apart."""
        offsets, at = [], 0.0
        for i, n in enumerate(row):
            if i > 0:
                at += (self.sizes[row[i - 1]][0] + self.sizes[n][0]) / 2 + _GAP
            offsets.append(at)
        pools = []  # (mean of what is wanted less the offset, how many)
        for n, offset in zip(row, offsets):
            mean, many = wanted(n) - offset, 1
            while pools and pools[-1][0] >= mean:
                before, more = pools.pop()
                mean = (mean * many + before * more) / (many + more)
                many += more
            pools.append((mean, many))
        means = [mean for mean, many in pools for _ in range(many)]
        for n, offset, mean in zip(row, offsets, means):
            self.x[n] = mean + offset

    def _place(self, count):
        left = min((self.x[n] - self.sizes[n][0] / 2 for n in range(len(self.x))), default=0)
        right = max((self.x[n] + self.sizes[n][0] / 2 for n in range(len(self.x))), default=0)
        y, tops, heights = 0, [], []
        for row in self.rows:
            tops.append(y)
            heights.append(max((self.sizes[n][1] for n in row), default=0))
            y += heights[-1] + _BETWEEN
        self.places = [
            (self.x[n] - self.sizes[n][0] / 2 - left, tops[self.layer[n]]) for n in range(count)
        ]
        self.width, self.height = right - left, max(y - _BETWEEN, 0)
        for edge, chain in self.routes.items():
            self.routes[edge] = [
                (self.x[n] - left, tops[self.layer[n]] + half)
                for n in chain
                for half in (0, heights[self.layer[n]])
            ]
