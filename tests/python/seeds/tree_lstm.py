"""The TreeLSTM cell of the seeds in both of its readings, and what it comes to.

The text is written once, for PyTorch and for Lathe: `torch` is either of them. PyTorch's numbers
are kept in tree_lstm.json, so that the tests run without it. In an environment that has PyTorch,
ENV/bin/python tests/python/seeds/tree_lstm.py writes them anew; it imports nothing of Lathe's.
"""

import json
from pathlib import Path

KEPT = Path(__file__).with_suffix(".json")
INPUTS, MEMORY, CHILDREN, BATCH = 3, 2, 3, 2
READINGS, DTYPES = ("nested", "flat"), ("float64", "float32")


def cells(torch):
    """{reading: its class}"""
    nn, Variable = torch.nn, torch.autograd.Variable

    class TreeLSTM(nn.Module):
        def __init__(self, inputs, memory, children):
            super().__init__()
            self.memory_size = memory
            self.wi_net, self.wo_net = nn.Linear(inputs, memory), nn.Linear(inputs, memory)
            self.wu_net, self.wf_net = nn.Linear(inputs, memory), nn.Linear(inputs, memory)

            def nets():
                return nn.ModuleList([nn.Linear(memory, memory) for _ in range(children)])

            self.ui_nets, self.uo_nets, self.uu_nets = nets(), nets(), nets()
            self.uf_nets = nn.ModuleList([nets() for _ in range(children)])

        def forward(self, inputs, children):
            i = self.wi_net(inputs)
            o = self.wo_net(inputs)
            u = self.wu_net(inputs)

            f_base = self.wf_net(inputs)
            fc_sum = Variable(inputs.data.new(self.memory_size).fill_(0))
            for k, child in enumerate(children):
                child_h, child_c = torch.chunk(child, 2, dim=1)
                i.add_(self.ui_nets[k](child_h))
                o.add_(self.uo_nets[k](child_h))
                u.add_(self.uu_nets[k](child_h))

                f = f_base
                for l, other_child in enumerate(children):  # noqa: B007
                    other_child_h, _ = torch.chunk(child, 2, dim=1)
                    f.add_(self.uf_nets[k][l](other_child_h))
                fc_sum.add(torch.sigmoid(f) * child_c)

            c = torch.sigmoid(i) * torch.tanh(u) + fc_sum
            h = torch.sigmoid(o) * torch.tanh(c)
            return torch.cat([h, c], dim=1)

    class FlatTreeLSTM(TreeLSTM):
        def forward(self, inputs, children):
            i = self.wi_net(inputs)
            o = self.wo_net(inputs)
            u = self.wu_net(inputs)

            f_base = self.wf_net(inputs)
            fc_sum = Variable(inputs.data.new(self.memory_size).fill_(0))
            for k, child in enumerate(children):
                child_h, child_c = torch.chunk(child, 2, dim=1)
                i.add_(self.ui_nets[k](child_h))
                o.add_(self.uo_nets[k](child_h))
                u.add_(self.uu_nets[k](child_h))

            f = f_base
            for l, other_child in enumerate(children):  # noqa: B007
                other_child_h, _ = torch.chunk(child, 2, dim=1)
                f.add_(self.uf_nets[k][l](other_child_h))
            fc_sum.add(torch.sigmoid(f) * child_c)

            c = torch.sigmoid(i) * torch.tanh(u) + fc_sum
            h = torch.sigmoid(o) * torch.tanh(c)
            return torch.cat([h, c], dim=1)

    return {"nested": TreeLSTM, "flat": FlatTreeLSTM}


def filled(torch, start, shape, dtype):
    """Numbers between -1/2 and 1/2 that every dtype holds exactly."""
    numbers = [((start + i) * 37 % 61 - 30) / 64 for i in range(shape[0] * shape[-1])]
    flat = numbers if len(shape) == 2 else numbers[: shape[0]]
    return torch.tensor(flat, dtype=getattr(torch, dtype)).reshape(shape)


def measured(torch, reading, dtype):
    """The cell's result and the value that f_base has in the end, and all gradients of each.

    The result does not depend on f_base, as the cell loses what it adds to fc_sum; a hook gets hold
    of f_base, which is changed in place afterwards.
    """
    cell = cells(torch)[reading](INPUTS, MEMORY, CHILDREN).to(getattr(torch, dtype))
    seen, measures = {}, {}
    cell.wf_net.register_forward_hook(lambda _, given, result: seen.update(f_base=result))
    with torch.no_grad():
        for start, p in enumerate(cell.parameters()):
            p.copy_(filled(torch, 5 * start, p.shape, dtype))
    inputs = filled(torch, 3, (BATCH, INPUTS), dtype).requires_grad_()
    children = [
        filled(torch, 7 * k, (BATCH, 2 * MEMORY), dtype).requires_grad_() for k in range(CHILDREN)
    ]
    leaves = dict(cell.named_parameters(), inputs=inputs)
    leaves.update({f"children.{k}": child for k, child in enumerate(children)})
    for name in ("out", "f_base"):
        seen["out"] = cell(inputs, children)
        (seen[name] * filled(torch, 11, seen[name].shape, dtype)).sum().backward()
        measures[name] = seen[name].tolist()
        for leaf, t in leaves.items():
            measures[f"{name} by {leaf}"] = None if t.grad is None else t.grad.tolist()
            t.grad = None
    return measures


def main():
    import torch

    lines = [f'"PyTorch": {json.dumps(torch.__version__.split("+")[0])}']
    for reading in READINGS:
        for dtype in DTYPES:
            rows = measured(torch, reading, dtype).items()
            inner = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows)
            lines.append(f'"{reading} {dtype}": {{\n{inner}\n}}')
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
