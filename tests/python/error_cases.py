"""Small wrong programs for test_errors.py. What Lathe says to each is in errors.txt.

Run by ./dev python tests/python/error_cases.py, it writes errors.txt anew: read the difference.
"""

import sys
from pathlib import Path

import lathe as lt
from lathe import nn

GOLDEN = Path(__file__).with_name("errors.txt")
LINE = 7  # where the program stands in its file, so that a line number can only come from there

PROGRAMS = """
lt.ones(2, 3) + lt.ones(4)
lt.ones(2, 3) @ lt.ones(2, 3)
lt.ones(2, 3) @ lt.ones(2)
lt.tensor(1.0) @ lt.ones(3)
lt.tensor([1, 2]).masked_fill(lt.tensor([True, False]), 1.5)
lt.tensor([1, 2]).masked_fill(lt.tensor([1, 0]), 1)
lt.ones(2, 3).view(5)
lt.ones(2, 3).view(-1, -1)
lt.ones(2, 3).T.view(6)
lt.ones(2, 3).expand(2, 4)
lt.ones(1).expand(-5)
lt.ones(3).narrow(0, 2, 2)
lt.ones(3).narrow(0, 0, -1)
lt.ones(3).split(0)
lt.ones(3).chunk(-1)
lt.sum(3)
lt.ones(2, 3).permute(0, 0)
lt.ones(2, 3).sum(2)
lt.ones(2, 3).sum((0, 0))
lt.ones(0).max()
lt.ones(2).reshape(3)
lt.cat([lt.ones(2), lt.ones(2, 2)])
lt.cat([])
lt.stack([lt.ones(2), lt.ones(3)])
lt.cat([lt.ones(2), lt.ones(2).to("sim")])
lt.searchsorted(lt.ones(2).to("sim"), lt.ones(2))
lt.ones(2, requires_grad=True).grad = lt.ones(2).double()
lt.ones(2)[5]
lt.ones(2, 2)[0, 0, 0]
lt.ones(2)[1.5]
lt.ones(2)[::-1]
lt.ones(3)[lt.tensor([1, 3])]
lt.ones(3)[lt.tensor([0.5])]
lt.ones(3)[lt.tensor([True])]
lt.ones(2, 3)[0] = lt.ones(4)
lt.gather(lt.ones(2, 2), 0, lt.tensor([[5]]))
lt.ones(2).softmax(1)
lt.conv2d(lt.ones(1, 2, 4, 4), lt.ones(1, 3, 2, 2))
lt.conv2d(lt.ones(1, 2, 4, 4), lt.ones(1, 1, 2, 2))
lt.conv2d(lt.ones(1, 2, 4, 4), lt.ones(3, 1, 2, 2), groups=2)
lt.conv2d(lt.ones(1, 2, 4, 4), lt.ones(3, 1, 2, 2), groups=0)
lt.conv2d(lt.ones(1, 1, 2, 2), lt.ones(1, 1, 3, 3))
lt.max_pool2d(lt.ones(1, 1, 4, 4), 2, padding=2)
lt.layer_norm(lt.ones(2, 3), [4])
lt.ops.windows(lt.ones(2, 2), 3)
lt.bitwise_and(lt.ones(2), lt.ones(2))
lt.tensor([1j]) < 1
lt.rand((2,), dtype=lt.int8)
lt.zeros(2, dtype=lt.uint8) + 256
lt.tensor([1.0, 300.0], dtype=lt.uint8)
lt.zeros(2)[0] = 1j
lt.ones(2).norm("nuc")
lt.trace(3)
lt.script(3)
lt.rand(2, dtype=lt.bool)
lt.scatter_add(lt.ones(2) > 0, 0, lt.tensor([0]), lt.ones(1) > 0)
lt.searchsorted(lt.tensor([1j]), lt.tensor([1j]))
lt.tensor([1j]).sort()
lt.tensor([1, 2]).add_(0.5)
lt.ones(2).add_(lt.ones(3, 2))
lt.ones(1).expand(3).add_(1)
lt.tensor([1, 2]) // 0
lt.tensor([1, 2]) % lt.tensor([1, 0])
lt.tensor([[1, 2], [3]])
lt.tensor("text")
lt.tensor(2**70)
lt.tensor(1j, dtype=lt.float32)
lt.zeros(2, dtype="float33")
lt.zeros(2, dtype=3)
lt.zeros(-1)
lt.zeros(2, device="tpu")
lt.zeros(2, device=0)
lt.zeros(2, device="sim") + lt.zeros(2)
lt.full((2,), "a")
lt.arange(0, 1, 0)
lt.randint(5, 5, (2,))
lt.bernoulli(lt.ones(2), 1.5)
lt.nn.functional.dropout(lt.ones(2), 2.0)
lt.gelu(lt.ones(2), approximate="quick")
lt.ones(2).clamp()
lt.relu()
lt.relu(1, 2)
lt.relu("x")
lt.relu(lt.ones(1), y=2)
lt.sum(lt.ones(1), x=lt.ones(1))
lt.sum(lt.ones(1), dim="a")
lt.sum(lt.ones(1), keepdim=3)
bool(lt.ones(2))
lt.ones(2).item()
float(lt.tensor(1j))
[1, 2][lt.tensor(0.0)]
len(lt.tensor(1))
iter(lt.tensor(1))
lt.ones(2).size(1)
lt.ones(1, requires_grad=True).numpy()
lt.ones(1, dtype=lt.bfloat16).numpy()
lt.from_numpy([1])
lt.from_dlpack(3)
lt.ones(2).to(foo=1)
lt.ones(2).to(lt.float64, copy=1)
lt.ones(2).to(lt.float64, memory_format="channels_last")
lt.ones(2).stride(0, dim=0)
lt.ones(2).stride(axis=0)
lt.ones(2).requires_grad_("no")
lt.ones(2).copy_()
lt.ones(2).copy_(1, True, False)
lt.tensor(1, pin_memory=True)
lt.from_dlpack(lt.ones(2), device="sim", copy=False)
lt.ones(2).copy_("a")
lt.tensor([1]).requires_grad_()
lt.ones(2).sum().backward()
(lt.ones(2, requires_grad=True) * 2).backward()
(lt.ones(1, requires_grad=True) * 2).backward(lt.ones(2))
lt.ones(1, requires_grad=True).add_(1)
(lt.ones(1, requires_grad=True) * 2).requires_grad_(False)
y = lt.ones(1, requires_grad=True).exp(); y.sum().backward(); y.sum().backward()
x = lt.ones(1, requires_grad=True) * 1; y = x * x; x.add_(1); y.sum().backward()
x = lt.ones(1, requires_grad=True); lt.autograd.grad(x.sum(), [lt.ones(1, requires_grad=True)])
lt.autograd.grad(lt.ones(1), lt.ones(1))
lt.ones(1).register_hook(print)
lt.ones(1).retain_grad()
lt.argmax(lt.ones(2, requires_grad=True) * 1).backward()
lt.ones(2, 2).repeat(2)
lt.trace(lambda x, y: x + y, (lt.ones(2),))
lt.func.grad(lambda x: x * 2)(lt.ones(2))
lt.table("softmax")
lt.table("gemm")
lt.use_table("mm f32 1..9 eigen.gemm")
lt.get_flag("speed")
lt.set_flag("threads", "many")
lt.set_flag("isa", "sse")
lt.set_default_dtype(lt.int64)
nn.functional.cross_entropy(lt.ones(2, 3), lt.tensor([0, 1, 2]))
nn.functional.cross_entropy(lt.ones(2, 3), lt.ones(2))
nn.functional.cross_entropy(lt.ones(2, 3), lt.tensor([0, 7]))
nn.functional.mse_loss(lt.ones(2), lt.ones(2), reduction="max")
nn.Linear(2, 3)(lt.ones(4, 5))
nn.BatchNorm2d(2)(lt.ones(1, 2, 1, 1))
lt.load("/dev/null")
nn.Conv2d(3, 4, 1, groups=2)
nn.BatchNorm1d(2)(lt.ones(1, 2, 1, 1))
nn.Sequential(3)
nn.ReLU().register_buffer("b", 3)
lt.optim.SGD([lt.ones(1)], lr=-1)
lt.optim.Adam(lt.ones(1))
lt.optim.Adam([lt.ones(1, requires_grad=True) * 2])
lt.ones(4).split([1, 2])
lt.bmm(lt.ones(2, 2), lt.ones(2, 2))
lt.autograd.gradcheck(lt.sin, lt.ones(1, requires_grad=True))
lt.save({"a": object()}, "nowhere")
lt.linspace(0, 1, -1)
lt.topk(lt.ones(3), 5)
lt.searchsorted(lt.ones(2, 2), lt.ones(1))
lt.ones(2).squeeze(3)
lt.ones(1 << 40, 1 << 40)
lt.ones(1 << 62)
lt.trace(lambda x: x.item())(lt.ones(1))
lt.trace(lambda x: x + 1 if x.sum() > 0 else x)(lt.ones(1))
lt.trace(lambda x: print(x))(lt.ones(1))
lt.trace(lambda x: x @ x)(lt.ones(2, 3))
lt.load("nothing.safetensors")
lt.zeros(2, 3).reshape(-1, 0)
lt.ones(2).to("float33")
lt.ones(2).to("tpu")
lt.zeros(3, device="cuda")
lt.nn.Linear(3, 4)(lt.ones(2, 5))
lt.nn.BatchNorm2d(3)(lt.ones(2, 4, 2, 2))
lt.conv2d(lt.ones(1, 1, 2, 2), lt.ones(1, 1, 3, 3))
lt.freeze(nn.Linear(1, 1))
lt.ones(2, 3).sum(dim=1, axis=0)
lt.trace(lambda x, w: x @ w)(lt.ones(2, 3), lt.ones(4, 5))
lt.save({"a.b": lt.ones(1), "a": {"b": lt.ones(1)}}, "two.safetensors")
lt.eye(-1)
lt.ones(3).topk(-1)
lt.embedding(lt.ones(2, 3), lt.tensor([5]))
lt.embedding(lt.tensor([0.5]), lt.ones(2, 3))
lt.library.custom_op("f(Tensor x) -> Tensor", shape=None)
lt.library.custom_op("relu(Tensor x) -> Tensor", shape=lambda x: x)
lt.library.custom_op("f(Tensor x -> Tensor", shape=lambda x: x)
lt.library.custom_op("f(Tensor[] xs) -> Tensor", shape=lambda x: x)(lambda xs: xs)
lt.library.load("nothing.so")
lt.get_no_such_thing
""".strip().splitlines()


def said(program):
    """The class and text of the error, and the names of the built-in errors it is."""
    code = compile("\n" * (LINE - 1) + program, "user.py", "exec")
    try:
        exec(code, {"lt": lt, "nn": nn})
    except Exception as error:
        bases = [c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins"]
        bases = [b for b in bases if b not in ("Exception", "BaseException", "object")]
        kind = f"{type(error).__module__}.{type(error).__name__}"
        return f"{kind} ({', '.join(bases)})\n{error}"
    return "nothing"


def all_said():
    return {p: said(p) for p in PROGRAMS}


def golden():
    entries = GOLDEN.read_text().strip("\n").split("\n\n")
    return dict(e.removeprefix(">>> ").split("\n", 1) for e in entries)


if __name__ == "__main__":
    texts = [f">>> {program}\n{text}\n" for program, text in all_said().items()]
    GOLDEN.write_text("\n".join(texts))
    sys.exit(0)
